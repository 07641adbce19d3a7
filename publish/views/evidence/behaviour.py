"""Views a server's behaviour in the sandbox: observed facts without a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from evidence.canonical import NotJson
from evidence.kinds import behaviour
from evidence.kinds.behaviour import Behaviour, Contact
from evidence.model import Absent, Dossier, Reason
from publish.views.evidence.observations import EvidenceSection

MAX_FACTS: Final = 20
"""The most entries of one row."""
_SAID_ELSEWHERE: Final = frozenset({Reason.TRANSPORT_UNSUPPORTED, Reason.NOT_COLLECTED})


def view_behaviour(dossier: Dossier) -> EvidenceSection | None:
    """Observed behaviour; None for a remote server, or if the page already shows why the server was not started."""
    content = dossier.read(behaviour.KIND)
    if isinstance(content, Absent):
        listed = dossier.read("listing")
        is_repeated = isinstance(listed, Absent) and listed.reason is content.reason
        return None if is_repeated or content.reason in _SAID_ELSEWHERE else EvidenceSection(content)
    try:
        return EvidenceSection(facts=tuple(_facts(Behaviour.parse(content.body))))
    except NotJson:
        return None


def _facts(seen: Behaviour) -> Iterator[tuple[str, str]]:
    yield "Hosts asked for by name", _listed(seen.names)
    yield "Addresses and sockets", _listed([_spelled(each) for each in seen.contacts])
    yield "Programs it tried to start", _listed(seen.programs)
    yield "Files opened for writing, refused", _listed(seen.writes)
    if seen.decoys is None:
        yield "Bait files in its home", "not watched"
    else:
        touched = [f"{each.path} ({'changed' if each.changed else 'opened'})" for each in seen.decoys]
        yield "Bait files in its home", _listed(touched)
    if seen.cut:
        yield "Not complete", "more was observed than is stored"


def _spelled(contact: Contact) -> str:
    if contact.port is None:
        return contact.to
    return f"[{contact.to}]:{contact.port}" if ":" in contact.to else f"{contact.to}:{contact.port}"


def _listed(found: Sequence[str]) -> str:
    more = f", and {len(found) - MAX_FACTS} more" if len(found) > MAX_FACTS else ""
    return ", ".join(found[:MAX_FACTS]) + more if found else "none"
