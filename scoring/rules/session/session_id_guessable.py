"""Rule `session-id-guessable`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.canonical import Json
from scoring.engine.rule import Answer, rule, should
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Inapplicable, Severity, Undecided
from scoring.scopes.conversation import CORE, NOT_ASKED, Conversation


@rule(
    "session-id-guessable",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A session id is short or assigned twice",
    remedy="Generate a new session id for each session with a cryptographically secure random generator, e.g. a UUID "
    "of version 4. Use at least 16 characters.",
    since="2026.2",
    version=1,
    checks=should("SESS-02", "BCD", "basic/transports#session-management"),
    fix=write_snippet(
        Language.PYTHON,
        "Source code",
        before="session_id = str(len(sessions) + 1)",
        after="session_id = str(uuid.uuid4())",
    ),
    good=[
        build_conversation(
            legacy_exchange("initialize", result={}, session={"length": 36, "visible": True, "same_as": None}),
            legacy_exchange(
                "initialize-2025-06-18",
                revision="C",
                result={},
                session={"length": 36, "visible": True, "same_as": None},
            ),
        )
    ],
    bad=[
        build_conversation(
            legacy_exchange("initialize", result={}, session={"length": 4, "visible": True, "same_as": None})
        ),
        build_conversation(
            legacy_exchange("initialize", result={}, session={"length": 36, "visible": True, "same_as": None}),
            legacy_exchange(
                "initialize-2025-06-18", revision="C", result={}, session={"length": 36, "visible": True, "same_as": 0}
            ),
        ),
    ],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(
            legacy_exchange("initialize", result={}, session={"length": 36, "visible": True, "same_as": None}),
            depth="core",
        ),
    ],
)
def session_id_guessable(conversation: Conversation, shortest: int = 16) -> Iterator[Answer]:
    """Every client that knows a session id can use that session, so the id must not be guessable.

    A counter, a time or a fixed value is guessable. Use a UUID of version 4 or at least 16 random bytes.
    """
    narrowed = only_streamable_http(conversation)
    narrowed.conclusive("initialize")
    openings = (one for one in narrowed.exchanges if one.step.startswith("initialize") and not one.unclear)
    given = [one for one in openings if one.connection.session is not None]
    if not given:
        raise Inapplicable("no session is assigned")
    complaints = [(one, words) for one in given if (words := _complaint(one.connection.session or {}, shortest))]
    if len(given) == 1 and not complaints and conversation.recorded.depth == CORE:
        raise Undecided(NOT_ASKED)
    yield from complaints


def _complaint(session: Mapping[str, Json], shortest: int) -> str:
    length = session.get("length")
    if session.get("same_as") is not None:
        return "the same session id was assigned twice"
    short = isinstance(length, int) and length < shortest
    return f"a session id of {length} characters, at least {shortest} expected" if short else ""
