"""The first tables.

There is no downgrade: a database without tables is a new one.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from evidence.store.migrations.building import (
    big_integers,
    binaries,
    booleans,
    doubles,
    index,
    integers,
    moments,
    small_integers,
    table,
    texts,
)

# Lower numbers were those of migrations before this one, which made other tables.
revision = "0018"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _make_servers()
    _make_runs()
    _make_evidence()
    _make_retests()
    _make_findings()
    _make_listing()
    _make_community()


def _make_servers() -> None:
    table(
        "evidence_blob",
        *binaries("digest"),
        *binaries("canonical", nullable=True),
        *small_integers("codec"),
        *integers("size"),
        *binaries("body"),
    )
    index("evidence_blob", "digest", unique=True)
    table(
        "opt_out",
        *texts("scope", "value"),
        *moments("at"),
        *texts("who", "note"),
        *moments("revoked_at", nullable=True),
    )
    table(
        "server",
        *texts("id", "ref", "name", "targets"),
        *texts("repository", nullable=True),
        *texts("seen_in", "host"),
        unique=(("id",),),
    )
    index("server", "name", name="ix_server_name", using="hash")
    index("server", "host", "key", name="ix_server_host")
    table("watermark", *texts("registry"), *moments("at"), primary=("registry",))
    table(
        "server_ref",
        *texts("registry", "name"),
        *binaries("name_digest"),
        *integers("server_key"),
        *texts("version", "status"),
        *integers("entry_key"),
        *texts("targets"),
        *texts("repository", nullable=True),
        *moments("updated_at", nullable=True),
        *texts("error", nullable=True),
        *integers("run_key", nullable=True),
        foreign={"entry_key": "evidence_blob", "server_key": "server"},
    )
    index("server_ref", "entry_key")
    index("server_ref", "server_key")
    index("server_ref", "registry", "name_digest", unique=True)


def _make_runs() -> None:
    table(
        "run",
        *texts("id", "trigger"),
        *moments("as_of"),
        *texts("pins", "options", "state"),
        *moments("planned_at", "published_at", "reviews_until", nullable=True),
        *texts("note", "plan_position", nullable=True),
        unique=(("id",),),
    )
    table("run_event", *integers("run_key"), *moments("at"), *texts("who", "what", "note"), foreign={"run_key": "run"})
    index("run_event", "run_key")
    table(
        "run_item",
        *integers("run_key"),
        *texts("stage"),
        *integers("server_key"),
        *small_integers("attempts"),
        *texts("last_error", nullable=True),
        *moments("done_at", nullable=True),
        *texts("leased_by", nullable=True),
        *moments("leased_until", nullable=True),
        *small_integers("leases", server_default="0"),
        *integers("token", server_default="0"),
        *moments("not_before", nullable=True),
        *booleans("carried", server_default=sa.false()),
        primary=("run_key", "stage", "server_key"),
        foreign={"run_key": "run", "server_key": "server"},
        rowid=False,
    )
    index("run_item", "run_key", "leased_until", name="ix_run_item_handed_out", where="done_at IS NULL AND leases > 0")
    index(
        "run_item", "run_key", "stage", "not_before", "server_key", name="ix_run_item_waiting", where="done_at IS NULL"
    )
    table(
        "dropped_item",
        *integers("run_key"),
        *texts("stage"),
        *booleans("carried"),
        *integers("planned", "done", "attempts"),
        primary=("run_key", "stage", "carried"),
        foreign={"run_key": "run"},
        rowid=False,
    )
    table(
        "snapshot",
        *integers("run_key"),
        *binaries("manifest"),
        *moments("at"),
        primary=("run_key",),
        foreign={"run_key": "run"},
    )
    table(
        "publication_part",
        *integers("run_key", "number", autoincrement=False),
        *integers("edition", "first"),
        *binaries("servers"),
        *integers("token", server_default="0"),
        *moments("leased_until", nullable=True),
        *binaries("counts", nullable=True),
        primary=("run_key", "number"),
        foreign={"run_key": "run"},
        rowid=False,
    )
    table(
        "walk",
        *integers("run_key"),
        *texts("registry"),
        *texts("cursor", nullable=True),
        *integers("pages", "entries", "invalid"),
        *booleans("done"),
        *texts("error", nullable=True),
        *moments("at"),
        primary=("run_key", "registry"),
        foreign={"run_key": "run"},
    )


def _make_evidence() -> None:
    table("evidence_shape", *binaries("digest"))
    index("evidence_shape", "digest", unique=True)
    table(
        "receipt",
        *binaries("digest"),
        *texts("rubric"),
        *small_integers("version"),
        *texts("score", "grade", nullable=True),
        *booleans("is_open"),
        *small_integers("codec"),
        *integers("size"),
        *binaries("body"),
        *integers("base_key", nullable=True),
        foreign={"base_key": "receipt"},
    )
    index("receipt", "digest", unique=True)
    table(
        "compaction",
        *integers("run_key"),
        *moments("at"),
        *integers("record_sets"),
        *booleans("done"),
        primary=("run_key",),
        foreign={"run_key": "run"},
    )
    table(
        "evidence_attempts",
        *integers("server_key"),
        *integers("page", autoincrement=False),
        *binaries("attempts"),
        primary=("server_key", "page"),
        foreign={"server_key": "server"},
        rowid=False,
    )
    table(
        "evidence_part",
        *integers("shape_key"),
        *texts("kind"),
        *small_integers("schema"),
        *texts("collector"),
        *small_integers("collector_version"),
        *texts("reason", "detail", nullable=True),
        primary=("shape_key", "kind"),
        foreign={"shape_key": "evidence_shape"},
        rowid=False,
    )
    table(
        "record_set",
        *integers("run_key", "server_key", "shape_key"),
        *binaries("blobs", "notes"),
        primary=("run_key", "server_key"),
        foreign={"run_key": "run", "server_key": "server", "shape_key": "evidence_shape"},
        rowid=False,
    )
    table(
        "sample",
        *integers("server_key"),
        *moments("at"),
        *texts("failure"),
        *doubles("cold_ms", "warm_ms", nullable=True),
        primary=("server_key", "at"),
        foreign={"server_key": "server"},
        rowid=False,
    )
    table(
        "scoring",
        *integers("run_key", "server_key", "shape_key"),
        *binaries("blobs", "receipts"),
        primary=("run_key", "server_key"),
        foreign={"run_key": "run", "server_key": "server", "shape_key": "evidence_shape"},
        rowid=False,
    )


def _make_retests() -> None:
    table(
        "retest_request",
        *texts("id"),
        *integers("server_key"),
        *texts("client"),
        *moments("asked_at"),
        *texts("state"),
        *texts("reason", nullable=True),
        *integers("run_key", "before_key", nullable=True),
        *moments("admitted_at", "finished_at", nullable=True),
        foreign={"before_key": "run", "run_key": "run", "server_key": "server"},
        unique=(("id",),),
    )
    index("retest_request", "finished_at")
    index("retest_request", "server_key")
    index("retest_request", "state")
    table(
        "full_probe",
        *integers("retest_key", autoincrement=False),
        *integers("run_key", nullable=True),
        primary=("retest_key",),
        foreign={"retest_key": "retest_request", "run_key": "run"},
    )
    index("full_probe", "run_key")


def _make_findings() -> None:
    table(
        "approval",
        *integers("server_key"),
        *texts("listing"),
        *moments("at"),
        *texts("who", "note"),
        foreign={"server_key": "server"},
        unique=(("server_key", "listing"),),
    )
    table(
        "finding",
        *texts("id"),
        *integers("server_key"),
        *texts("rule", "at", "message", "severity", "content"),
        *moments("first_seen", "last_seen"),
        *texts("state"),
        *moments("since"),
        *moments("vendor_informed_at", nullable=True),
        foreign={"server_key": "server"},
        unique=(("id",),),
    )
    index("finding", "server_key")
    index("finding", "state")
    table(
        "disclosure",
        *integers("finding_key"),
        *moments("at"),
        *texts("who", "before", "after", "note"),
        *texts("recipient", nullable=True),
        foreign={"finding_key": "finding"},
    )
    index("disclosure", "finding_key")


def _make_listing() -> None:
    table(
        "listing_order",
        *integers("edition", autoincrement=False),
        *small_integers("sort", autoincrement=False),
        *integers("place", autoincrement=False),
        *big_integers("rank"),
        *integers("kind"),
        *big_integers("facets"),
        *texts("grade", nullable=True),
        *integers("score", nullable=True),
        primary=("edition", "sort", "place"),
        rowid=False,
    )
    walked = ("edition", "sort", "rank", "place", "kind", "facets", "grade", "score")
    index("listing_order", *walked, name="ix_listing_order_walk")
    table(
        "listing_edition",
        *integers("run_key"),
        *booleans("ready"),
        *integers("servers"),
        *texts("rubrics", "kinds", "facets"),
        *binaries("front"),
        foreign={"run_key": "run"},
    )
    index("listing_edition", "run_key")
    table(
        "listing_hidden",
        *integers("server_key", autoincrement=False),
        primary=("server_key",),
        foreign={"server_key": "server"},
    )
    table(
        "listing_server",
        *integers("edition", "place", autoincrement=False),
        *integers("server_key"),
        *texts("name"),
        *moments("seen"),
        *integers("kind"),
        *big_integers("facets"),
        *binaries("body"),
        primary=("edition", "place"),
        foreign={"server_key": "server"},
        rowid=False,
    )
    index("listing_server", "server_key", "edition")
    table(
        "listing_withheld",
        *integers("run_key", "server_key", autoincrement=False),
        primary=("run_key", "server_key"),
        foreign={"run_key": "run", "server_key": "server"},
        rowid=False,
    )
    _make_full_text()


def _make_full_text() -> None:
    """The words of listed servers, in the full-text index of each database."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE listing_text USING fts5"
            " (name, purpose, tools, readme, tokenize = 'unicode61 remove_diacritics 0')"
        )
        return
    op.execute(
        "CREATE TABLE listing_text (edition integer NOT NULL, place integer NOT NULL, name text NOT NULL,"
        " purpose text NOT NULL, tools text NOT NULL, readme text NOT NULL, words tsvector NOT NULL,"
        " CONSTRAINT pk_listing_text PRIMARY KEY (edition, place))"
    )
    op.execute("CREATE INDEX ix_listing_text_words ON listing_text USING gin (words)")


def _make_community() -> None:
    table(
        "audit",
        *moments("at"),
        *texts("who"),
        *texts("token", nullable=True),
        *texts("what", "subject", "before", "after", "note"),
    )
    index("audit", "subject")
    table(
        "claim",
        *texts("id"),
        *integers("server_key"),
        *texts("way", "place", "challenge", "client"),
        *moments("asked_at"),
        *texts("state"),
        *moments("due_at"),
        *integers("tries"),
        *moments("seen_at", nullable=True),
        *texts("note"),
        foreign={"server_key": "server"},
        unique=(("id",),),
    )
    index("claim", "client")
    index("claim", "due_at")
    index("claim", "server_key")
    table(
        "dispute",
        *texts("id"),
        *integers("server_key"),
        *binaries("line"),
        *texts("run", "rubric"),
        *small_integers("version"),
        *texts("cites"),
        *texts("rule", nullable=True),
        *texts("at", "why", "reason"),
        *texts("contact", nullable=True),
        *texts("client"),
        *booleans("by_maintainer"),
        *moments("filed_at"),
        *texts("state"),
        *booleans("is_shown"),
        *texts("answer", nullable=True),
        *moments("decided_at", nullable=True),
        foreign={"server_key": "server"},
        unique=(("id",),),
    )
    index("dispute", "client")
    index("dispute", "line")
    index("dispute", "server_key")
    index("dispute", "state")
    table(
        "webhook",
        *texts("id"),
        *integers("server_key"),
        *texts("url"),
        *texts("token", nullable=True),
        *moments("made_at"),
        *texts("run", nullable=True),
        *small_integers("failures"),
        *moments("ended_at", nullable=True),
        *texts("why", nullable=True),
        foreign={"server_key": "server"},
        unique=(("id",),),
    )
    index("webhook", "server_key")
    table(
        "api_token",
        *texts("id", "name"),
        *binaries("salt", "digest"),
        *texts("scopes"),
        *integers("claim_key", nullable=True),
        *moments("made_at"),
        *moments("expires_at", "used_at", "revoked_at", nullable=True),
        foreign={"claim_key": "claim"},
        unique=(("id",),),
    )
    index("api_token", "claim_key")
    table(
        "delivery",
        *texts("id"),
        *integers("webhook_key"),
        *texts("run"),
        *binaries("body"),
        *moments("made_at"),
        *texts("state"),
        *small_integers("attempts"),
        *moments("due_at", "tried_at", nullable=True),
        *texts("said"),
        foreign={"webhook_key": "webhook"},
        unique=(("id",), ("webhook_key", "run")),
    )
    index("delivery", "due_at")
    table(
        "dispute_act",
        *integers("dispute_key"),
        *moments("at"),
        *texts("who", "before", "after", "note"),
        foreign={"dispute_key": "dispute"},
    )
    index("dispute_act", "dispute_key")
