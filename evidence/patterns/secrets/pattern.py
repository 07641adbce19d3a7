"""The format of a secret of one provider, declared with samples, and the two most common shapes."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

EDGE: Final = r"(?:\b|\\[nrt])"
"""Where a token may begin: at a word boundary, or after an escape inside a quoted text."""

UUID: Final = r"[a-fA-F0-9]{8}-(?:[a-fA-F0-9]{4}-){3}[a-fA-F0-9]{12}"

HEX: Final = "0123456789abcdef"

NEAR: Final = 80
FAR: Final = 400
"""Bytes before and after an anchor that an expression may examine, unless the pattern states otherwise."""

_INITIAL: Final = 4
"""Bytes before an anchor that begins a token, for its word boundary."""

JOINT: Final = (
    r"[\w.\- ]{0,30}?"  # the rest of the name
    r"(?:[\"'`\])}\\]{0,6}|&quot;)\s{0,5}"  # its quotes, also those of JSON or HTML inside a text
    r"(?:=>|:=|==?"
    r"|:\s{0,2}&?(?:'static )?[A-Za-z_][\w.]{0,30}(?:[\[<][\w, ]{1,20}[\]>])?(?: \| None)?\s{0,2}="  # with its type
    r"|,?\s{1,20}[\"']?(?i:value)[\"']?\s?[:=]|:|,|\|\||\?\?|\(|>"  # name and value as two members
    r"|\{\s{0,12}(?:type\s{0,4}=\s{0,4}string\s{0,12})?default\s{0,4}=|\s)"
    r"\s{0,16}(?:[\w.:]{1,40}\((?:\w{1,20}\s?=\s?)?)?(?:[\"'`(\[\\]{0,6}|&quot;)"  # a call around it
    r"(?:(?i:basic|bearer|token|apikey|key)[ =:]{1,3})?"
)

DASHED_JOINT: Final = rf"(?:-|{JOINT})"
"""A joint, or a dash."""


class SecretPattern(Struct, frozen=True, kw_only=True):
    """One format. `expression` is RE2; its first group, or else the whole match, is the secret.

    Every match contains one of the `anchors` (lower case; compared without case), at most `near` bytes after its start
    and
    `far` bytes before its end; an `initial` match begins with its anchor, at a word boundary. A secret with at most
    `entropy` bits per character does not count. A `generic` pattern has no provider: its findings never count by
    themselves.
    Text made of words is no match of a `random` pattern, because people write such passwords in samples.
    An `encoded` pattern matches Base64 of a text that contains a secret in turn. The anchors of a `named` pattern are
    names of services; a match begins after one. In a match, what follows each anchor begins with `then`: bounded, in
    lower case, for frequent anchors. A pattern with `files` holds only for paths with these endings (lower case;
    compared without case).
    `bad` and `good` are templates for `samples.write_sample`.
    """

    id: str
    provider: str
    title: str
    expression: str
    anchors: tuple[str, ...]
    bad: tuple[str, ...]
    good: tuple[str, ...]
    entropy: float = 0.0
    generic: bool = False
    random: bool = False
    encoded: bool = False
    initial: bool = False
    named: bool = False
    then: str = ""
    files: tuple[str, ...] = ()
    near: int = NEAR
    far: int = FAR


def declare_token(  # noqa: PLR0917  rows of a table
    ident: str,
    provider: str,
    title: str,
    body: str,
    anchors: str,
    bad: str | tuple[str, ...],
    good: str | tuple[str, ...],
    *,
    entropy: float = 3.0,
    far: int = FAR,
    near: int = _INITIAL,
    then: str = "",
) -> SecretPattern:
    """A token that is recognised by its own letters anywhere. `anchors` are separated by spaces."""
    return SecretPattern(
        id=ident,
        provider=provider,
        title=title,
        expression=rf"{EDGE}({body})(?:[^\w\-]|-[^\w\-]|$)",
        anchors=tuple(dict.fromkeys(anchors.split())),
        bad=_each(bad),
        good=_each(good),
        entropy=entropy,
        initial=near == _INITIAL,
        then=then,
        near=near,
        far=far,
    )


def declare_named_value(  # noqa: PLR0917  rows of a table
    ident: str,
    provider: str,
    title: str,
    name: str,
    body: str,
    anchors: str,
    bad: str | tuple[str, ...],
    good: str | tuple[str, ...],
    *,
    entropy: float = 3.0,
    random: bool = False,
    files: tuple[str, ...] = (),
    then: str = "",
) -> SecretPattern:
    """A value without characteristic letters, recognised by the name that it is assigned to."""
    return SecretPattern(
        id=ident,
        provider=provider,
        title=title,
        # A name before a parenthesis is a function call.
        expression=rf"(?i:{name}){JOINT}({body})(?:[^\w\-(]|-[^\w\-(]|$)",
        anchors=tuple(dict.fromkeys(anchors.split())),
        bad=_each(bad),
        good=_each(good),
        entropy=entropy,
        random=random,
        files=files,
        then=then,
        near=24 if len(name) < 100 else 64,
    )


def declare_host_value(  # noqa: PLR0917  rows of a table
    ident: str,
    provider: str,
    title: str,
    host: str,
    body: str,
    anchors: str,
    bad: str | tuple[str, ...],
    good: str | tuple[str, ...],
    *,
    entropy: float = 3.0,
) -> SecretPattern:
    """A value without characteristic letters, recognised by the host that it is sent to in the same request."""
    sent = rf"(?i:(?:access_?)?token=|api_?key=|bearer\s{{1,3}})({body})"
    return SecretPattern(
        id=ident,
        provider=provider,
        title=title,
        expression=rf"(?:{host}[^\x00]{{0,160}}?{sent}(?:[^\w\-]|$)|{sent}[^\w\-][^\x00]{{0,120}}?{host})",
        anchors=tuple(anchors.split()),
        bad=_each(bad),
        good=_each(good),
        entropy=entropy,
        near=260,
    )


def build_prefix_anchors(*beginnings: str, letters: str = HEX) -> str:
    """Prefixes combined with each letter that may follow: longer anchors occur in fewer places."""
    return " ".join(beginning + letter for beginning in beginnings for letter in letters)


def _each(samples: str | tuple[str, ...]) -> tuple[str, ...]:
    return (samples,) if isinstance(samples, str) else samples
