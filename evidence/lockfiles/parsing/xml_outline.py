"""Parses XML without document types, entities or deep nesting into elements with their text."""

from __future__ import annotations

from typing import NoReturn
from xml.parsers import expat

from msgspec import Struct, field

from evidence.lockfiles.lockfile import FaultKind, InvalidLockfile, to_printable_text
from evidence.lockfiles.parsing.bounded import MAX_VALUES

MAX_XML_DEPTH = 64


class Element(Struct):
    """One element: its name without namespace, its line, its text and its children."""

    name: str
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def child(self, name: str) -> Element | None:
        """The first child with that name."""
        return next((child for child in self.children if child.name == name), None)

    def value(self, name: str) -> str:
        """The text of the first child with that name; empty when there is none."""
        found = self.child(name)
        return "" if found is None else found.text.strip()

    def under(self, *names: str) -> list[Element]:
        """The children of the element at a path of names."""
        at: Element | None = self
        for name in names:
            at = None if at is None else at.child(name)
        return [] if at is None else at.children


class _Reader:
    def __init__(self) -> None:
        self.root = Element("", 0)
        self._open = [self.root]
        self._text: list[str] = []
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._parser.StartDoctypeDeclHandler = self._doctype

    def read(self, data: bytes) -> Element:
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            kind = FaultKind.TRUNCATED if error.code in {3, 5} and data.strip() else FaultKind.SYNTAX
            raise InvalidLockfile(
                kind, f"not XML: {expat.ErrorString(error.code)}", error.lineno, error.offset + 1
            ) from error
        except (LookupError, ValueError) as error:  # the declared encoding is unknown or unsupported
            raise InvalidLockfile(
                FaultKind.ENCODING, f"not readable XML: {to_printable_text(str(error))}", 1
            ) from error
        return self.root.children[0]

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        element = Element(name.rpartition(" ")[2], self._parser.CurrentLineNumber)
        self._open[-1].children.append(element)
        self._open.append(element)
        self._text.clear()
        if len(self._open) > MAX_XML_DEPTH:
            raise InvalidLockfile(FaultKind.TOO_DEEP, f"nested more than {MAX_XML_DEPTH} deep", element.line)

    def _end(self, _name: str) -> None:
        element = self._open.pop()
        if not element.children:
            element.text = "".join(self._text)
        self._text.clear()

    def _data(self, text: str) -> None:
        self._text.append(text)

    def _doctype(self, *_: object) -> NoReturn:
        line = self._parser.CurrentLineNumber
        raise InvalidLockfile(FaultKind.REFUSED, "document types are refused, and with them every entity", line)


def read_xml(data: bytes) -> Element:
    """The root element; raise InvalidLockfile."""
    if data.count(b"<") + data.count(b"=") > MAX_VALUES // 4:
        raise InvalidLockfile(FaultKind.TOO_LARGE, f"more than {MAX_VALUES // 4} tags and attributes")
    return _Reader().read(data)
