"""Maps the reply of a server that did not open to the recorded reason. Details are stable between runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from crawler.http.failures import BudgetSpent, Malformed, TimedOut
from crawler.launcher import ProcessExit
from crawler.mcp.transcript import Reply, Transcript
from crawler.sandbox import failure_messages
from crawler.secret_masking import mask_tail
from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use
from evidence.model import Absent, Reason

_MAX_SEARCHED: Final = 16 * 1024

_HTML: Final = compile_on_use(
    rb"\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_CHALLENGE: Final = compile_on_use(
    rb"just a moment\.\.\.|challenge-platform|cf-chl|attention required! \| cloudflare|captcha|ddos-guard|datadome"
    rb"|_incapsula_resource|sucuri website firewall|incapsula incident|access denied.{0,200}reference #",
    re.IGNORECASE | re.DOTALL,
)
_CHALLENGE_HEADERS: Final = ("cf-mitigated", "x-amzn-waf-action", "x-datadome")
_TOKEN_TEXT: Final = compile_on_use(
    r"bearer|oauth|authorization header|unauthori[sz]ed|unauthenticated|not authenticated|access token"
    r"|authentication (?:is )?required|(?:invalid|missing|expired|no)[ _]token|(?:log|sign) ?in required",
    re.IGNORECASE,
)
_KEY_TEXT: Final = compile_on_use(r"api[ _-]?key|credential|subscription key", re.IGNORECASE)

_MISSING: Final = (
    r"\b(?:missing|requires?|required|not (?:set|found|provided|defined|configured)|must (?:be )?(?:set|provide|specif)"
    r"|please (?:set|provide|specify)|needs?|needed|undefined)"
)
_CREDENTIAL: Final = (
    r"(?:\bapi[ _-]?keys?\b|\bapp ?secrets?\b|\baccess[ _-]?tokens?\b|\btokens?\b|\bcredentials?\b"
    r"|\bsecrets?\b|\bpasswords?\b|\bkubeconfig\b|\benvironment variables?\b|\benv vars?\b"
    r"|(?-i:\b[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:KEY|TOKEN|SECRET|PASSWORD|PAT|CREDENTIALS?|URL|URI|HOST|USER|USERNAME|ID|DSN)\b))"
)
_LACKS_CREDENTIALS: Final = compile_on_use(
    rf"{_MISSING}[^\n]{{0,120}}?{_CREDENTIAL}|{_CREDENTIAL}[^\n]{{0,120}}?{_MISSING}"
    rf"|\bno (?:\w+ ){{0,2}}{_CREDENTIAL}"
    r"|(?:(?m:^)\W{0,8}|\berror: |(?<!\bif )\byou(?:'re| are) )not (?:authenticated|logged in|signed in)"
    r"(?=[.!,:;]|(?m:$)| to\b| with\b)",
    re.IGNORECASE,
)
_REFUSES_CREDENTIALS: Final = compile_on_use(
    r"\b(?:invalid|incorrect|wrong|bad|malformed) (?:\w+ ){0,3}?(?:api[ _-]?key|access token|credentials?|password)"
    r"|\bauthentication (?:failed|error)|\bunauthori[sz]ed\b|\b401\b.{0,40}\bunauth|\binvalid_auth\b",
    re.IGNORECASE,
)
_REACHES_NO_HOST: Final = compile_on_use(
    r"\bENOTFOUND\b|\bEAI_AGAIN\b|\bECONNREFUSED\b|\bENETUNREACH\b|\bEHOSTUNREACH\b|\bgetaddrinfo\b|\bgaierror\b"
    r"|name or service not known|name resolution|network is unreachable|connection refused|could not resolve"
    r"|failed to resolve|nodename nor servname|\bfetch failed\b|\bConnectError\b|\bdns error\b",
    re.IGNORECASE,
)
_HOSTS: Final = 3
_FIRST_EPHEMERAL_PORT: Final = 32768
_LINES: Final = 400
_MANUAL: Final = compile_on_use(r"\s{0,20}-{1,2}[A-Za-z]")  # a line of a help text
_ERROR: Final = compile_on_use(r"\W{0,8}(?:\w{1,40})?(?:error|exception|fatal)\b", re.IGNORECASE)
_HAS_NO_ROOM: Final = compile_on_use(
    r"\bENOSPC\b|\bEDQUOT\b|\bEFBIG\b|no space left on device|disk quota exceeded|file too large"
    r"|I/O failure when writing",
    re.IGNORECASE,
)
_HAS_NO_MEMORY: Final = compile_on_use(
    r"heap out of memory|\bMemoryError\b|\bENOMEM\b|cannot allocate memory|\bbad_alloc\b", re.IGNORECASE
)
_PROGRAM: Final = r"(?:(?:/[\w.-]{1,40}){0,6}/)?(?:(?:ba)?sh|git|np[mx]|uvx?|docker)(?![\w.-])"
_HAS_NO_PROGRAM: Final = compile_on_use(
    rf"\bspawn(?:Sync)? {_PROGRAM}[^\n]{{0,40}}ENOENT|No such file or directory: ['\"]{_PROGRAM}['\"]"
)
_CHANGES: Final = r"(?:mkdir|rmdir|unlink|rename|copyfile|symlink|chmod|utime)"
_WRITES_TO_ITS_FILES: Final = compile_on_use(
    rf"\bENOENT\b[^\n]{{0,60}}, mkdir '/app/|\bE(?:ACCES|PERM)\b[^\n]{{0,60}}, {_CHANGES} '/app/"
    r"|(?:\bEROFS\b|\bErrno 30\])[^\n]{0,80}'/app/"
)
"""Node says ENOENT when it may not make a folder and those above it."""
_NEEDS_NETWORK: Final = "it needs the network to start"
_CONTAINMENT_CAUSES: Final = (
    ("it needs more room for files than the sandbox gives", _HAS_NO_ROOM),
    ("it needs more memory than the sandbox gives", _HAS_NO_MEMORY),
    (_NEEDS_NETWORK, _REACHES_NO_HOST),
)
_LAST_ERRORS: Final = (
    ("it runs a program that the sandbox lacks", _HAS_NO_PROGRAM),
    ("it writes among its installed files, which the sandbox does not allow", _WRITES_TO_ITS_FILES),
)
"""Causes of what ends with them: some warn of them and go on. An image has programs and folders of its own."""
_LIMITS: Final = (
    ("time", Reason.TIMEOUT),
    ("output", Reason.START_FAILED),
    ("stderr", Reason.START_FAILED),
    ("", Reason.SANDBOX_RESTRICTED),
)
"""The reason for a process that we ended, by the first word of the limit."""
_VARIABLE: Final = compile_on_use(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]\b")
_CREDENTIAL_VARIABLE: Final = compile_on_use(
    r"KEY|TOKEN|SECRET|PASS|PAT\b|CRED|AUTH|ACCOUNT|USER|URL|URI|HOST|DSN|_ID\b"
)

_PLAIN_STATUS: Final = {
    402: (Reason.PAYMENT_REQUIRED, "HTTP 402"),
    403: (Reason.FORBIDDEN, "HTTP 403"),
    407: (Reason.FORBIDDEN, "HTTP 407"),
    408: (Reason.TIMEOUT, "HTTP 408"),
    421: (Reason.NOT_MCP, "HTTP 421: the host name is not in the server's allow-list"),
    425: (Reason.TIMEOUT, "HTTP 425"),
    429: (Reason.RATE_LIMITED, "HTTP 429"),
    451: (Reason.FORBIDDEN, "HTTP 451"),
}


def explain_opening(reply: Reply, asked: str, transcript: Transcript) -> Absent:
    """Why a server did not open. When our time for it ended before its last answer, its last failure is the reason."""
    failures = (one.failure for one in reversed(transcript.exchanges))
    if isinstance(reply.failure, BudgetSpent):
        decisive = next((one for one in failures if one and not isinstance(one, BudgetSpent)), None)
        return decisive.absent() if decisive else reply.failure.absent()
    return explain_reply(reply, asked)


def explain_reply(reply: Reply, asked: str) -> Absent:
    """Why a server could not be listed, from the last reply to the method `asked`."""
    status = reply.status
    if _is_challenge(reply):
        return Absent(Reason.BLOCKED_BY_WAF, f"HTTP {status} with a bot challenge")
    if reply.failure and (status is None or status < 300):
        return _explain_failure(reply, asked)
    if status is not None and (by_status := _explain_status(reply, status, asked)):
        return by_status
    if reply.answer and reply.answer.is_error:
        return _explain_error(reply, asked)
    return Absent(Reason.NOT_MCP, _no_answer(reply, asked))


def explain_exit(
    ended: ProcessExit | None, facts: Mapping[str, Json], noise: bytes, reply: Reply, asked: str
) -> Absent:
    """Why a launched server could not be listed. A process that ended and named missing credentials requires them.

    `facts` are those of its launch; they show whether it ended because an install script did not run.
    """
    if reply.answer:
        return explain_reply(reply, asked)
    said = noise.decode("utf-8", "replace")
    text = (ended.stderr if ended else "") + "\n" + said
    if ended and ended.limit:
        return explain_limit(ended.limit)
    if ended and ended.ports and isinstance(reply.failure, TimedOut):
        return Absent(Reason.TRANSPORT_UNSUPPORTED, f"no answer to {asked}: {describe_ports(ended.ports)}")
    if reply.failure and reply.failure.reason is Reason.UNREACHABLE:
        if missing := find_credentials_request(text):
            return Absent(Reason.CREDENTIALS_REQUIRED, missing)
        cause = failure_messages.describe_start_failure(facts, ended, said) if ended else Absent(Reason.START_FAILED)
        own = "" if cause == Absent(cause.reason) else mask_tail(cause.detail)
        parts = (f"{reply.failure.detail} {asked}", own)
        return Absent(cause.reason, ": ".join(part for part in parts if part))
    why = explain_reply(reply, asked)
    is_unread = bool(noise) and why.reason is Reason.TIMEOUT
    return Absent(why.reason, f"{why.detail}; lines on standard output are not messages") if is_unread else why


def describe_missing_credentials(text: str) -> str | None:
    """A stable sentence on the credentials that an output asks for; None when it asks for none."""
    if not _LACKS_CREDENTIALS.search(text[:_MAX_SEARCHED]):
        return None
    names = sorted({name for name in _VARIABLE.findall(text[:_MAX_SEARCHED]) if _CREDENTIAL_VARIABLE.search(name)})
    return f"the server asks for {', '.join(names[:4])}" if names else "the server asks for credentials"


def find_credentials_request(text: str) -> str | None:
    """Which credentials a process asks for or refuses, with the line that says so; None when it names none."""
    searched = text[:_MAX_SEARCHED]
    if named := describe_missing_credentials(searched):
        return _quoted(named, searched, _LACKS_CREDENTIALS)
    if _REFUSES_CREDENTIALS.search(searched):
        return _quoted("the server refuses its credentials", searched, _REFUSES_CREDENTIALS)
    return None


def describe_ports(ports: Sequence[int]) -> str:
    """Where a process listens. The kernel chooses other ports than the stated ones anew on each start."""
    fixed = [str(port) for port in ports if port < _FIRST_EPHEMERAL_PORT]
    return f"it listens on port {', '.join(fixed[:_HOSTS]) or '<port>'} instead of stdio"


def explain_limit(limit: str) -> Absent:
    """Why a process did not open that we ended at a limit of the sandbox."""
    reason = next(reason for word, reason in _LIMITS if limit.startswith(word))
    return Absent(reason, f"the sandbox stopped it at the {limit}")


def explain_containment(absent: Absent, text: str) -> Absent:
    """The reason why a process did not open in our sandbox: the sandbox itself, when the output shows that."""
    return (find_containment_cause(text) if absent.reason in {Reason.START_FAILED, Reason.TIMEOUT} else None) or absent


def find_containment_cause(text: str, *, is_image: bool = False) -> Absent | None:
    """What the sandbox lacks for the process, such as the network or a program. None when nothing shows that."""
    searched = text[-_MAX_SEARCHED:]
    for sentence, pattern in () if is_image else _LAST_ERRORS:
        if failure_messages.is_last_error(searched, pattern):
            return Absent(Reason.SANDBOX_RESTRICTED, _quoted(sentence, searched, pattern))
    for sentence, pattern in _CONTAINMENT_CAUSES:
        if pattern.search(searched):
            return Absent(Reason.SANDBOX_RESTRICTED, _quoted(sentence, searched, pattern))
    return None


def is_network_cause(cause: Absent) -> bool:
    """Whether the cause that `find_containment_cause` found is the missing network."""
    return cause.detail.startswith(_NEEDS_NETWORK)


def describe_needed_hosts(hosts: Sequence[str]) -> Absent | None:
    """The network as the missing resource, with the hosts that a process asked for; None when there were none."""
    named = ", ".join(hosts[:_HOSTS])
    return Absent(Reason.SANDBOX_RESTRICTED, f"{_NEEDS_NETWORK}: it asked for {named}") if named else None


def _quoted(sentence: str, text: str, pattern: re.Pattern[str]) -> str:
    """The sentence with the most telling line that the pattern matches, scrubbed and equal in every run."""
    lines = [line for line in failure_messages.strip_colour_codes(text).splitlines()[:_LINES] if pattern.search(line)]
    messages = [line for line in lines if not _MANUAL.match(line)]
    errors = [line for line in messages if _ERROR.match(line)]
    line = (errors or messages or lines or [""])[0]
    return (
        f"{sentence}: {failure_messages.stabilise_line(line)}"[: failure_messages.MAX_MESSAGE_LENGTH]
        if line
        else sentence
    )


def _explain_failure(reply: Reply, asked: str) -> Absent:
    failure = reply.failure
    if isinstance(failure, Malformed) and _HTML.match(reply.exchange.body):
        return Absent(Reason.NOT_MCP, f"HTTP {reply.status} with an HTML page to {asked}")
    return failure.absent() if failure else Absent(Reason.NOT_MCP)


def _no_answer(reply: Reply, asked: str) -> str:
    if reply.answer:
        return f"the result of {asked} is not an object"
    if reply.status is None:
        return f"no JSON-RPC answer to {asked}"
    return f"HTTP {reply.status} without a JSON-RPC answer to {asked}{_page_note(reply)}"


def _explain_status(reply: Reply, status: int, asked: str) -> Absent | None:
    if status in _PLAIN_STATUS:
        return Absent(*_PLAIN_STATUS[status])
    if status == 401:
        return _explain_401(reply)
    if status >= 500:
        return Absent(Reason.UNREACHABLE, f"HTTP {status} to {asked}")
    if 300 <= status < 400:
        return Absent(Reason.NOT_MCP, f"HTTP {status}: the redirect is not followed")
    return _locked_by_text(_text(reply), "HTTP 400") if status == 400 and reply.answer is None else None


def _explain_401(reply: Reply) -> Absent:
    challenge = reply.exchange.header("www-authenticate").lower()
    if "bearer" in challenge or "dpop" in challenge:
        return Absent(Reason.OAUTH_REQUIRED, "HTTP 401 with a Bearer challenge")
    if challenge:
        return Absent(Reason.CREDENTIALS_REQUIRED, "HTTP 401 with a challenge other than Bearer")
    text = _text(reply)
    if _KEY_TEXT.search(text) and not re.search(r"bearer|oauth|access token", text, re.IGNORECASE):
        return Absent(Reason.CREDENTIALS_REQUIRED, "HTTP 401 that asks for an API key")
    return Absent(Reason.OAUTH_REQUIRED, "HTTP 401 without a challenge")


def _explain_error(reply: Reply, asked: str) -> Absent:
    answer = reply.answer
    code = answer.code if answer else None
    where = f"JSON-RPC error {code} to {asked}" if code is not None else f"JSON-RPC error without code to {asked}"
    locked = _locked_by_text(answer.message if answer else "", where)
    return locked or Absent(Reason.NOT_MCP, where)


def _locked_by_text(text: str, where: str) -> Absent | None:
    if _TOKEN_TEXT.search(text):
        return Absent(Reason.OAUTH_REQUIRED, f"{where} that asks for a token")
    if _KEY_TEXT.search(text):
        return Absent(Reason.CREDENTIALS_REQUIRED, f"{where} that asks for an API key")
    return None


def _is_challenge(reply: Reply) -> bool:
    exchange = reply.exchange
    if any(exchange.header(name) for name in _CHALLENGE_HEADERS):
        return True
    head = exchange.body[:_MAX_SEARCHED]
    return reply.answer is None and bool(_HTML.match(head)) and bool(_CHALLENGE.search(head))


def _page_note(reply: Reply) -> str:
    return " (an HTML page)" if _HTML.match(reply.exchange.body[:_MAX_SEARCHED]) else ""


def _text(reply: Reply) -> str:
    return reply.exchange.body[:_MAX_SEARCHED].decode("utf-8", "replace")
