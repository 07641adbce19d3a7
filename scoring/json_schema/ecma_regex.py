"""Is a text a regular expression as JavaScript reads it with the `u` flag? JSON Schema validators compile it so.

A linear parser of the pattern grammar of ECMA-262 (2024), without running anything.
"""

from __future__ import annotations

import re
from typing import Final

from scoring.text.words import parse_word_list

_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/")
_CLASS_ESCAPES: Final = frozenset("dDsSwW")
_CONTROL: Final = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_BRACES: Final = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_NUMBER: Final = re.compile(r"[1-9][0-9]*")
_CODE_POINT: Final = re.compile(r"u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|c([A-Za-z])")
_GROUP_NAME: Final = re.compile(r"<([^\s<>]+)>")
_PROPERTY: Final = re.compile(r"\{(?:(\w+)=)?(\w+)\}", re.ASCII)
_CATEGORIES: Final = parse_word_list(
    """
    C Cc Cf Cn Co Cs L LC Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs
    Other Control cntrl Format Unassigned Private_Use Surrogate Letter Cased_Letter Lowercase_Letter Modifier_Letter
    Other_Letter Titlecase_Letter Uppercase_Letter Mark Combining_Mark Spacing_Mark Enclosing_Mark Nonspacing_Mark
    Number Decimal_Number digit Letter_Number Other_Number Punctuation punct Connector_Punctuation Dash_Punctuation
    Close_Punctuation Final_Punctuation Initial_Punctuation Other_Punctuation Open_Punctuation Symbol Currency_Symbol
    Modifier_Symbol Math_Symbol Other_Symbol Separator Line_Separator Paragraph_Separator Space_Separator
    """
)
_BINARY: Final = parse_word_list(
    """
    ASCII AHex ASCII_Hex_Digit Alpha Alphabetic Any Assigned Bidi_C Bidi_Control Bidi_M Bidi_Mirrored CI Case_Ignorable
    Cased CWCF Changes_When_Casefolded CWCM Changes_When_Casemapped CWL Changes_When_Lowercased CWKCF
    Changes_When_NFKC_Casefolded CWT Changes_When_Titlecased CWU Changes_When_Uppercased Dash DI
    Default_Ignorable_Code_Point Dep Deprecated Dia Diacritic Emoji EComp Emoji_Component EMod Emoji_Modifier EBase
    Emoji_Modifier_Base EPres Emoji_Presentation ExtPict Extended_Pictographic Ext Extender Gr_Base Grapheme_Base
    Gr_Ext Grapheme_Extend Hex Hex_Digit IDSB IDS_Binary_Operator IDST IDS_Trinary_Operator IDC ID_Continue IDS
    ID_Start Ideo Ideographic Join_C Join_Control LOE Logical_Order_Exception Lower Lowercase Math NChar
    Noncharacter_Code_Point Pat_Syn Pattern_Syntax Pat_WS Pattern_White_Space QMark Quotation_Mark Radical RI
    Regional_Indicator STerm Sentence_Terminal SD Soft_Dotted Term Terminal_Punctuation UIdeo Unified_Ideograph Upper
    Uppercase VS Variation_Selector space White_Space XIDC XID_Continue XIDS XID_Start
    """
)
_SCRIPT: Final = re.compile(r"[A-Z][a-z]+(?:_[A-Za-z]+)*")


def is_valid_regex(pattern: str) -> bool:
    """Whether `new RegExp(pattern, "u")` would succeed."""
    try:
        _Parser(pattern).parse()
    except _Wrong:
        return False
    return True


class _Wrong(Exception):
    """The pattern breaks the grammar."""


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._open: list[bool] = []
        self._groups = 0
        self._largest = 0
        self._names: set[str] = set()
        self._wanted: set[str] = set()

    def parse(self) -> None:
        """Parse the whole pattern; raise _Wrong on a syntax error."""
        while self._at < len(self._text):
            self._term()
        if self._open or self._largest > self._groups or not self._wanted <= self._names:
            raise _Wrong

    def _term(self) -> None:
        character = self._take()
        match character:
            case "(":
                self._begin_group()
            case ")":
                if not self._open:
                    raise _Wrong
                self._quantifier(allowed=self._open.pop())
            case "[":
                self._class()
                self._quantifier(allowed=True)
            case "\\":
                self._quantifier(allowed=self._escape())
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise _Wrong
            case "|":
                pass
            case _:
                self._quantifier(allowed=character not in "^$")

    def _begin_group(self) -> None:
        if not self._skip("?"):
            self._groups += 1
            self._open.append(True)
        elif self._skip(":"):
            self._open.append(True)
        elif self._skip("=") or self._skip("!") or self._skip("<=") or self._skip("<!"):
            self._open.append(False)
        else:
            name = self._name()
            if name in self._names:
                raise _Wrong
            self._names.add(name)
            self._groups += 1
            self._open.append(True)

    def _name(self) -> str:
        found = _GROUP_NAME.match(self._text, self._at)
        if not found or not found[1].replace("$", "_").isidentifier():
            raise _Wrong
        self._at = found.end()
        return found[1]

    def _quantifier(self, *, allowed: bool) -> None:
        braces = _BRACES.match(self._text, self._at)
        if braces:
            if braces[3] and _longer(braces[1], braces[3]):
                raise _Wrong
            self._at = braces.end()
        elif not (self._skip("*") or self._skip("+") or self._skip("?")):
            return
        if not allowed:
            raise _Wrong
        self._skip("?")

    def _escape(self) -> bool:
        """Parse an escape after its backslash; return whether a quantifier may follow."""
        character = self._take()
        if character in "bB":
            return False
        if character == "k":
            self._wanted.add(self._name())
        elif number := _NUMBER.match(self._text, self._at - 1):
            self._largest = max(self._largest, int(number[0][:9]))
            self._at = number.end()
        else:
            self._at -= 1
            self._character_escape(_SYNTAX)
        return True

    def _class(self) -> None:
        self._skip("^")
        while not self._skip("]"):
            low = self._class_atom()
            if self._text[self._at : self._at + 1] == "-" and self._text[self._at + 1 : self._at + 2] != "]":
                self._at += 1
                high = self._class_atom()
                if low is None or high is None or low > high:
                    raise _Wrong

    def _class_atom(self) -> int | None:
        """The code point of one member of a class, None for a nested class."""
        character = self._take()
        if character != "\\":
            return ord(character)
        if self._skip("b"):
            return 8
        return self._character_escape(_SYNTAX | {"-"})

    def _character_escape(self, literal: frozenset[str]) -> int | None:
        coded = _CODE_POINT.match(self._text, self._at)
        if coded:
            self._at = coded.end()
            point = ord(coded[4]) % 32 if coded[4] else int(coded[1] or coded[2] or coded[3], 16)
            if point > 0x10FFFF:
                raise _Wrong
            return self._pair(point) if coded[2] else point
        character = self._take()
        if character in "pP":
            self._property()
            return None
        if character in _CLASS_ESCAPES:
            return None
        if character == "0" and not self._text[self._at : self._at + 1].isdecimal():
            return 0
        if character in _CONTROL:
            return _CONTROL[character]
        if character not in literal:
            raise _Wrong
        return ord(character)

    def _pair(self, high: int) -> int:
        """The code point of a surrogate pair written as two escapes, or `high` alone."""
        found = re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})").match(self._text, self._at)
        if not (0xD800 <= high < 0xDC00 and found):
            return high
        self._at = found.end()
        return 0x10000 + ((high - 0xD800) << 10) + int(found[1], 16) - 0xDC00

    def _property(self) -> None:
        found = _PROPERTY.match(self._text, self._at)
        if not found:
            raise _Wrong
        self._at = found.end()
        name, value = found.groups()
        known = {
            None: value in _CATEGORIES or value in _BINARY,
            "General_Category": value in _CATEGORIES,
            "gc": value in _CATEGORIES,
        }.get(name, name in {"Script", "sc", "Script_Extensions", "scx"} and bool(_SCRIPT.fullmatch(value)))
        if not known:
            raise _Wrong

    def _take(self) -> str:
        if self._at >= len(self._text):
            raise _Wrong
        self._at += 1
        return self._text[self._at - 1]

    def _skip(self, text: str) -> bool:
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True


def _longer(low: str, high: str) -> bool:
    """Whether the first decimal numeral is greater, without converting thousands of digits."""
    low, high = low.lstrip("0"), high.lstrip("0")
    return (len(low), low) > (len(high), high)
