"""Finds in the output of a server that does not start the variables, options and arguments that it requires.

The text is untrusted: only a bounded number of lines and characters is searched, every pattern takes linear time, and
the inputs that it names are passed to its own process only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from evidence.package_inputs import InputPlace, PackageInput

MAX_NAMED_INPUTS: Final = 12
"""Inputs from one text; a text with more is a manual and not an error message."""

_LINES: Final = 300
_LONGEST: Final = 400  # characters of a line
_HINT: Final = 200
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_BOX: Final = "│┃| \t"

_LACKS: Final = re.compile(
    r"\bmissing\b|\brequire[sd]?\b|\bnot (?:been )?(?:set|found|provided|defined|configured|specified|given)\b"
    r"|\bmust (?:be|have|set|provide|specify)\b|\bplease\b|\bneed(?:s|ed)?\b|\bundefined\b|\bunset\b|\bempty\b"
    r"|\bno .{0,60}(?:provided|found|set|given|specified|configured)\b|\bset (?:it|the|your|an?|both|either|[`'\"A-Z])"
    r"|\bexport [A-Z]|\bpass [`'\"-]|environment variables?|\benv vars?\b|\binvalid\b",
    re.IGNORECASE,
)
_HARMLESS: Final = re.compile(
    r"\boptional|\bdefault|\bwarn|falling back|fallback|\bkeyless|\bdummy\b|\bdeprecated", re.IGNORECASE
)
_VARIABLE: Final = re.compile(r"(?<![\w$./-])[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){1,8}(?!\w)")
_ONE_WORD: Final = re.compile(r"(?<![\w$./-])([A-Z][A-Z0-9]{2,30})[`'\"]{0,2} (?:environment|env) var")
_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][a-z0-9]{0,30}(?:-[a-z0-9]{1,30}){0,6}(?![\w-])")
# Error codes, and variables of runtimes and of the sandbox.
_RESERVED: Final = re.compile(
    r"ERR_|EAI_|UND_|MODULE_NOT|LD_|NODE_|PYTHON|NPM_|UV_|GIT_|SSL_|CERT_|NO_CERT|SELF_SIGNED|UNABLE_|DLOPEN_"
    r"|HTTP_|HTTPS_|NO_PROXY|XDG_|LC_|(?:PATH|HOME|TMPDIR|LANG|USER|SHELL|PWD|TERM|NODE|ENV)$"
)
_MANUAL: Final = re.compile(r"\s{0,20}-{1,2}[A-Za-z]")
"""A line of a table of options."""

_LIST_ITEM: Final = re.compile(
    r"\s{0,8}(?:[-*•·✗✖❌▸→]|\d{1,2}[.)])?\s{0,4}`?([A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){0,8})\b"
)
_LIST_WORD: Final = re.compile(r"\s{0,8}[-*•·]\s{0,4}`?([a-z][a-z0-9-]{0,40})\b")
_HEADING: Final = re.compile(r"(?:missing|required|following|set|provide)\b.{0,120}:\s{0,4}$", re.IGNORECASE)

_ONE_OF: Final = re.compile(r"\bone of\b|\beither\b|\bany of\b", re.IGNORECASE)

_KEY_ERROR: Final = re.compile(r"KeyError: '([A-Z][A-Z0-9_]{2,60})'$")
_ARGPARSE: Final = re.compile(r"the following arguments are required: (.{1,300})$")
_YARGS: Final = re.compile(r"^\s{0,8}Missing required arguments?: ([\w, -]{1,200})$")
_CLICK: Final = re.compile(r"Missing (option|argument) ['\"]([^'\"]{1,80})['\"](?:.{0,80}env var: ['\"](\w{1,80}))?")
_COMMANDER: Final = re.compile(r"required option ['\"]([^'\"]{1,80})['\"] not specified")
_COMMANDER_WORD: Final = re.compile(r"missing required argument ['\"]([\w.-]{1,60})['\"]")
_BY_POSITION: Final = re.compile(
    r"\b(?:provide|specify|pass|give|supply|requires?|needs?|missing|expected)\s(?:an?\s|the\s|your\s|at least one\s)?"
    r"((?!it\b|them\b)(?:[\w/-]{1,30}\s){1,5})(?:must be |to be |is |be )?(?:provided |passed |given |specified )?as\s"
    r"(?:an?\s|the\s|your\s)?(?:first\s|single\s|only\s)?(?:positional\s|command[- ]line\s|cli\s){0,2}argument",
    re.IGNORECASE,
)
_USAGE: Final = re.compile(r"^\W{0,4}usage:?\s(.{1,300})$", re.IGNORECASE)
_USAGE_WORD: Final = re.compile(r"(?<=\s)<([A-Za-z][\w/. -]{0,40})>")
_USAGE_OPTION: Final = re.compile(r"(?<=\s)(--[a-z][\w-]{0,60})[ =]<([\w/. -]{1,40})>")
_OPTIONAL_PART: Final = re.compile(r"\[[^\[\]]{0,120}\]")

_COMMANDS: Final = re.compile(r"\W*(?:available |sub-?)?commands?\W*$", re.IGNORECASE)
_COMMAND: Final = re.compile(r"([\s│┃]{1,8})([a-z][a-z-]{0,30})(?:\s|$)")
_BRACES: Final = re.compile(r"(--[\w-]{1,60}[ =])?\{([a-z][\w,-]{0,300})\}")
_SERVING: Final = ("stdio", "serve", "serve-stdio", "serve-mcp", "mcp", "mcp-server", "server", "start", "run")
"""Names of commands that start a server, the surest first."""

_PYDANTIC: Final = re.compile(r"validation errors? for (\w{1,80})")
_SETTINGS: Final = re.compile(r"settings|config|env", re.IGNORECASE)
_PYDANTIC_FIELD: Final = re.compile(r"^[A-Za-z]\w{1,60}$")
_PYDANTIC_LACKS: Final = re.compile(r"^\s{1,8}(?:Field required|Input should be|Value error)")
_ZOD_PATH: Final = re.compile(r"\"path\":\s{0,20}\[\s{0,40}\"([A-Z][A-Z0-9_]{2,60})\"\s{0,40}\]")
_ZOD_AT: Final = re.compile(r"→ at ([A-Z][A-Z0-9_]{2,60})$")


def find_named_inputs(output: str) -> tuple[PackageInput, ...]:
    """The inputs that an output reports as missing, each once; none when they are not certain.

    The first of alternatives counts, and a variable before an option. Where a help text lists commands, the one that
    starts a server is missing.
    """
    lines = [_plain(line) for line in output.splitlines()[-_LINES:]]
    found: dict[tuple[InputPlace, str], PackageInput] = {}
    for asked in (*_structured(lines), *_sentences(lines)):
        found.setdefault((asked.place, asked.name), asked)
    if not found:
        found = {(asked.place, asked.name): asked for asked in (*_usage(lines), *_serving_command(lines))}
    return tuple(found.values()) if len(found) <= MAX_NAMED_INPUTS else ()


def _plain(line: str) -> str:
    return _ANSI.sub("", line[: 2 * _LONGEST])[:_LONGEST].rstrip().strip("│┃")


def _structured(lines: list[str]) -> Iterator[PackageInput]:
    """Messages of argument parsers and settings libraries."""
    for line in lines:
        text = line.strip(_BOX)
        if found := _KEY_ERROR.search(text):
            yield from _variables([found[1]], text)
        elif found := _ARGPARSE.search(text):
            yield from _listed(found[1].split(","), text)
        elif found := _YARGS.search(text):
            yield from (_option(f"--{name.strip()}", text) for name in found[1].split(",") if name.strip())
        elif found := _CLICK.search(text):
            yield from _clicked(found, text)
        elif found := _COMMANDER.search(text):
            yield from _listed([found[1]], text)
        elif found := _COMMANDER_WORD.search(text):
            yield _word(found[1], text)
        elif found := _ZOD_AT.search(text):
            yield from _variables([found[1]], text)
    yield from _variables(_ZOD_PATH.findall("\n".join(lines)), "")
    yield from _pydantic(lines)


def _pydantic(lines: list[str]) -> Iterator[PackageInput]:
    """Fields of pydantic settings, which are read from variables with the same name in capitals."""
    model = ""
    for line, following in pairwise([*lines, ""]):
        if found := _PYDANTIC.search(line):
            model = found[1]
        elif model and _PYDANTIC_FIELD.match(line) and _PYDANTIC_LACKS.match(following):
            names = [line.upper()] if line.isupper() or _SETTINGS.search(model) else []
            yield from _variables(names, following.strip())


def _sentences(lines: list[str]) -> Iterator[PackageInput]:
    """Inputs that sentences name, and lists below such sentences."""
    listing = False
    for line in lines:
        item = _LIST_ITEM.match(line) if listing else None
        if item and "_" in item[1]:
            yield from _variables([item[1]], line)
            continue
        word = _LIST_WORD.match(line) if listing and not _HARMLESS.search(line) else None
        if word and (option := f"--{word[1]}") not in _SWITCHES and _names_option(lines, option):
            yield _option(option, line)
            continue
        listing = bool(_HEADING.search(line)) and not _ONE_OF.search(line)
        if _MANUAL.match(line) or not _LACKS.search(line) or _HARMLESS.search(line):
            continue
        names = _first_of_each(line, _VARIABLE) or _ONE_WORD.findall(line)
        if names:
            yield from _variables(names, line)
        elif found := _BY_POSITION.search(line):
            yield _word(found[1].strip(), line)
        elif not _USAGE.match(line):
            yield from (_option(name, line) for name in _first_of_each(line, _OPTION) if name not in _SWITCHES)


def _names_option(lines: list[str], option: str) -> bool:
    return any(re.search(rf"(?<![\w-]){option}(?![\w-])", line) for line in lines)


_SWITCHES: Final = frozenset({"--help", "--version", "--verbose", "--debug", "--force", "--legacy-peer-deps", "--save"})


def _first_of_each(line: str, names: re.Pattern[str]) -> list[str]:
    """The names in a line without those that are stated as alternatives to another."""
    kept: list[str] = []
    end = 0
    for found in names.finditer(line):
        between = line[end : found.start()]
        if not (kept and re.search(r"\bor\b|^\s?[/|]\s?$", between)):
            kept.append(found[0])
        end = found.end()
    return kept


def _usage(lines: list[str]) -> Iterator[PackageInput]:
    """Required arguments of a usage text: in angle brackets and not in square ones."""
    for line in lines:
        if found := _USAGE.match(line):
            needed = _OPTIONAL_PART.sub(" ", f" {found[1]}")
            options = _USAGE_OPTION.findall(needed)
            yield from (_option(name, value) for name, value in options)
            yield from (_word(name, line) for name in _USAGE_WORD.findall(_USAGE_OPTION.sub(" ", needed))[:4])
            return


def _serving_command(lines: list[str]) -> Iterator[PackageInput]:
    """The command of a help text that starts a server."""
    listed: set[str] = set()
    in_list, indentation = False, ""
    for line in lines:
        if _USAGE.match(line):
            braces = _BRACES.findall(_OPTIONAL_PART.sub(" ", line))
            listed.update(name for option, names in braces if not option for name in names.split(","))
        command = _COMMAND.match(line) if in_list else None
        in_list = bool(_COMMANDS.match(line)) or (in_list and bool(line.strip()))
        if command:
            indentation = indentation or command[1]
            if command[1] == indentation:  # a deeper line goes on with a description
                listed.add(command[2])
    if serving := tuple(name for name in _SERVING if name in listed):
        yield PackageInput(place=InputPlace.WORD, name="command", choices=serving, required=True)


def _listed(names: Iterable[str], line: str) -> Iterator[PackageInput]:
    """Names as parsers write them: `--api-key/-k`, `-k, --api-key <key>`, `path`."""
    for name in names:
        options = re.findall(r"--[A-Za-z][\w-]{0,60}", name) or re.findall(r"^\s?-[A-Za-z]\b", name)
        plain = name.strip().strip("{}[]<>")
        if options:
            yield _option(options[0].strip(), line)
        elif re.fullmatch(r"[\w.-]{1,60}", plain):
            yield _word(plain, line)


def _clicked(found: re.Match[str], line: str) -> Iterator[PackageInput]:
    if found[3]:
        yield from _variables([found[3]], line)
    elif found[1].lower() == "option":
        yield from _listed([found[2]], line)
    else:
        yield _word(found[2].strip("[]."), line)


def _variables(names: Iterable[str], line: str) -> Iterator[PackageInput]:
    kept = [name for name in dict.fromkeys(names) if not _RESERVED.match(name)]
    # The text about several names is not specific to any of them.
    hint = line.strip()[:_HINT] if len(kept) == 1 else ""
    yield from (PackageInput(place=InputPlace.ENVIRONMENT, name=name, hint=hint, required=True) for name in kept)


def _option(name: str, line: str) -> PackageInput:
    hint = line.strip()[:_HINT] if line.count("--") <= 1 else ""
    return PackageInput(place=InputPlace.OPTION, name=name, hint=hint, required=True)


def _word(name: str, line: str) -> PackageInput:
    return PackageInput(place=InputPlace.WORD, name=name, hint=f"{name}\n{line.strip()}"[:_HINT], required=True)
