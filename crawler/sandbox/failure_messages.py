"""Why a package could not be installed or started, in texts that are equal on every run and machine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from crawler.launcher import ProcessExit
from crawler.sandbox.node_versions import excludes_node
from crawler.secret_masking import mask_secrets
from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use
from evidence.model import Absent, Reason

_MISSING_PACKAGE = compile_on_use(
    r"- 404\b|was not found in the package registry|there (?:is|are) no versions? of|No version matching"
)
_WRONG_RUNTIME = compile_on_use(
    r"does not satisfy Python|requires Python|Python>=?=?[\d.]+.* (?:incompatible|unsatisf)"
)
_NO_WHEEL = compile_on_use(r"no (?:usable |compatible )?wheels?|building from source is disabled|no matching platform")
# Errors at start if a file is missing that an install script would have created.
_MISSES_BINARY = compile_on_use(
    r"\.node\b|bindings file|prebuil[dt]|postinstall|install script|ERR_DLOPEN_FAILED|reinstall|native module",
    re.IGNORECASE,
)
_CODE_FAILURE = compile_on_use(
    r"\b(?:ModuleNotFound|Import|Attribute|Type|Name|Pydantic\w{0,40})Error\b|Cannot find (?:module|package)"
    r"|\bERR_(?:MODULE_NOT_FOUND|PACKAGE_PATH_NOT_EXPORTED|REQUIRE_ESM|UNSUPPORTED_DIR_IMPORT)\b"
    r"|does not provide an export named"
)
_ANSI = compile_on_use(r"\x1b\[[0-9;?]*[A-Za-z]")
_ERROR = compile_on_use(
    r"(?:\w+\.)*\w*(?:Error|Exception)\b|(?-i:(?:[a-z_]\w*\.)+[A-Z]\w+:)|error\b|fatal\b|\"message\":", re.IGNORECASE
)
_FRAMING = " \t|│┃║+*/\\✗✖❌✘×>-─╭╮╰╯"
# Lines that only say where something happened.
_PLACES = (
    r"at .{1,400}:\d+:\d+\)?(?: \{)?$",
    r"at (?:async |new )?[\w.$<>]{1,100}(?: \[as \w{1,80}\])?(?: \((?:<anonymous>|native|index \d+)\))?(?: \{)?$",
    r"File \".{1,400}\", line \d+",
    r"(?:file://|node:|/)\S{1,300}:\d+(?: in .{1,80})?$",
    r"(?:Node\.js|Bun) v\d|Require stack:|Traceback \(most recent|During handling of|The above exception",
    r"(?:code|errno|syscall|requireStack|hostname|path|url|cause): ['\"\[{\d-]",
    r"(?!\w*(?:Error|Exception|Exit|Interrupt)\b)\w{1,60}: (?:\[Circular|(?:undefined|null|-?\d+|\[),?$)",
    r"[/\w.@-]{1,300}\.(?:py|[cm]?[jt]s)$",
)
_PLACE = compile_on_use("|".join(_PLACES))
_USAGE = compile_on_use(r"usage:\s(?!\s*\d|\[cpu)(.{0,300})", re.IGNORECASE)
_COMPLAINT = compile_on_use(
    r"(?:unknown|unexpected|missing|invalid|not enough|too many|unrecogni[sz]ed|no such|cannot|could not|failed)\b",
    re.IGNORECASE,
)
"""How a line begins that says what is wrong, below a help text."""
_HEADINGS = frozenset({"error", "errors", "fatal"})
_QUOTES_CODE = compile_on_use(r"File \"|node:|file://|/\S{1,300}:\d+$")
"""Places after which the line of code is quoted."""
# Text that differs between starts: identifiers, dates, times, addresses, ports, process ids, durations.
_VOLATILE = (
    (compile_on_use(r"https?://[^\s'\"<>)]+"), "<url>"),
    (compile_on_use(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (compile_on_use(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "<time>"),
    (compile_on_use(r"\b\d\d?:\d\d:\d\d(?:[.,]\d+)?"), "<time>"),
    (compile_on_use(r"\b0x[0-9a-f]+\b", re.IGNORECASE), "<address>"),
    (compile_on_use(r"\b[0-9a-f]{16,}\b", re.IGNORECASE), "<id>"),
    (compile_on_use(r"/tmp/[\w./-]+"), "<temporary file>"),  # noqa: S108
    (compile_on_use(r"\b\d+(?:\.\d+)? ?(?:ms|s|µs|us)\b"), "<duration>"),
    (compile_on_use(r"(?:\bpid[ =:]*|\bprocess )\d+", re.IGNORECASE), "<pid>"),
    (
        compile_on_use(r"((?:\b\d{1,3}(?:\.\d{1,3}){3}|\blocalhost|\[[0-9a-f:.]*\]|::1?)):\d{1,5}\b", re.IGNORECASE),
        r"\1:<port>",
    ),
    (compile_on_use(r"(\bport\b[\"']?[ =:#]*)\d{1,5}\b", re.IGNORECASE), r"\1<port>"),
    (compile_on_use(r"\b\d{10,}(?:\.\d+)?\b"), "<id>"),
)
MAX_MESSAGE_LENGTH = 300
_LONGEST_LINE = 1000
_LONGEST_ENGINES = 60


def describe_install_failure(output: str) -> Absent:
    """Why an installation failed, from the output of bun or uv."""
    flat = re.sub(r"\s+", " ", _ANSI.sub("", output))
    start = max(flat.rfind("error:"), flat.find("╰─▶"), 0)
    text = stabilise_line(flat[start:].replace("error:", "").replace("╰─▶", ""))
    text = text or "the installer failed without a word"
    if _MISSING_PACKAGE.search(flat):  # the index has the package itself: it was asked before
        return Absent(Reason.INSTALL_FAILED, f"it depends on what the index does not have: {text}"[:MAX_MESSAGE_LENGTH])
    if _WRONG_RUNTIME.search(flat):
        return Absent(Reason.RUNTIME_UNSUPPORTED, text)
    if _NO_WHEEL.search(flat):
        return Absent(Reason.INSTALL_FAILED, f"no wheel to install: {text}"[:MAX_MESSAGE_LENGTH])
    return Absent(Reason.INSTALL_FAILED, text)


def fails_in_code(output: str) -> bool:
    """Whether a process ended because its code does not fit what it was installed with.

    A library of the system that is missing is missing in our sandbox only: other machines may have it.
    """
    return _CODE_FAILURE.search(output) is not None and "cannot open shared object file" not in output


def describe_start_failure(facts: Mapping[str, Json], end: ProcessExit, noise: str = "") -> Absent:
    """Why a started server never responded, from the facts of its launch, its exit, and `noise`: stdout without
    messages, where some print their help.
    """
    text = find_last_error_line(end.stderr) or find_last_error_line(noise)
    blocked = facts.get("install_scripts_blocked")
    if isinstance(blocked, list) and blocked and _MISSES_BINARY.search(end.stderr):
        names = ", ".join(str(name) for name in blocked[:5])
        return Absent(
            Reason.INSTALL_SCRIPTS_REQUIRED, f"{names} did not run install scripts; {text}"[:MAX_MESSAGE_LENGTH]
        )
    how = "" if end.code is None else f"exit code {end.code}" if end.code >= 0 else f"signal {-end.code}"
    needs = _describe_unmet_node(facts)
    return Absent(Reason.START_FAILED, ": ".join(part for part in (how, needs, text) if part)[:MAX_MESSAGE_LENGTH])


def _describe_unmet_node(facts: Mapping[str, Json]) -> str:
    """The Node that a package asks for, if there is another one; else empty."""
    engines, node = facts.get("engines"), facts.get("node")
    if not isinstance(engines, str) or not isinstance(node, str) or not excludes_node(engines, node):
        return ""
    return f"it asks for Node {stabilise_line(engines)[:_LONGEST_ENGINES]}, and there is {node}"


def find_last_error_line(stderr: str) -> str:
    """The last line of stderr that says something: one with an error, else the usage, else one that is no frame of a
    stack. A line that ends in a colon comes with the next one, and a heading is replaced by it.

    Empty when nothing but places in the code was written.
    """
    lines = [line for line in (each.strip(_FRAMING) for each in _ANSI.sub("", stderr).splitlines()) if line]
    ours = [line for line in lines if line.startswith("sandbox: ")]
    telling = list(_list_telling_lines(lines))
    errors = [line for line in telling if _ERROR.match(line, 0, MAX_MESSAGE_LENGTH)]
    worded = [line for line in errors if " " in line]
    complaints = [line for line in telling if _COMPLAINT.match(line)]
    if not (ours or errors or complaints) and (usage := _find_usage(telling)):
        return stabilise_line(f"it prints its usage: {usage}")
    chosen = (ours or worded or errors or complaints or telling or [""])[-1]
    following = next(iter(telling[len(telling) - telling[::-1].index(chosen) :]), "") if chosen in telling else ""
    if following and chosen.lower() in _HEADINGS:
        return stabilise_line(following)
    return stabilise_line(f"{chosen} {following}" if chosen.endswith(":") else chosen)


def _find_usage(lines: Sequence[str]) -> str:
    """The synopsis of a help text; empty if the lines are none."""
    for line, following in pairwise([*lines, ""]):
        if found := _USAGE.match(f"{line} "):
            return found[1].strip() or following
    return ""


def is_last_error(text: str, pattern: re.Pattern[str]) -> bool:
    """Whether a line of a text matches a pattern and no later one is an error."""
    stripped = (each.strip(_FRAMING) for each in _ANSI.sub("", text).splitlines())
    lines = list(_list_telling_lines(line for line in stripped if line))
    places = [at for at, line in enumerate(lines) if pattern.search(line)]
    return bool(places) and not any(_ERROR.match(line, 0, MAX_MESSAGE_LENGTH) for line in lines[places[-1] + 1 :])


def _list_telling_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines with words that are neither a place in the code nor the code that is quoted below it."""
    quoted = False
    for line in lines:
        if _PLACE.match(line, 0, _LONGEST_LINE):
            quoted = bool(_QUOTES_CODE.match(line, 0, _LONGEST_LINE))
        elif re.search(r"[^\W\d_]{2}", line) and not quoted:
            yield line
        else:
            quoted = False


def strip_colour_codes(text: str) -> str:
    """The text without ANSI colour codes."""
    return _ANSI.sub("", text)


def stabilise_line(text: str) -> str:
    """`text` on one line; parts that differ between runs are replaced, and possible secrets are masked."""
    for pattern, mark in _VOLATILE:
        text = pattern.sub(mark, text)
    text = mask_secrets(text[: 4 * MAX_MESSAGE_LENGTH])
    return re.sub(r"\s+", " ", text).strip()[:MAX_MESSAGE_LENGTH]
