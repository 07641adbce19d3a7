"""Many small questions: one transaction for all of them, each statement built once and answered by an index."""

from __future__ import annotations

import pytest
from sqlalchemy import event, select, text

from evidence.store import OptOut, OptOutScope, Store
from evidence.store.database import Database
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.tables.core import RUN, SERVER
from tests.evidence.store.build import AS_OF

ENTRY = OptOut(scope=OptOutScope.HOST, value="a.example", at=AS_OF, who="ann", note="")


def _begun(database: Database) -> list[object]:
    begun: list[object] = []
    event.listen(database._engine, "begin", begun.append)
    return begun


def _ask(database: Database) -> None:
    with database.reading() as connection:
        connection.execute(select(RUN.c.key)).all()


def test_what_is_read_at_once_is_one_transaction(url: str) -> None:
    database = Database(url)
    begun = _begun(database)
    with database.shared_reading():
        _ask(database)
        with database.shared_reading():
            _ask(database)
        _ask(database)
    assert len(begun) == 1
    _ask(database)
    assert len(begun) == 2
    database.close()


def test_a_block_that_fails_leaves_nothing_behind(url: str) -> None:
    database = Database(url)
    with pytest.raises(LookupError), database.shared_reading():
        raise LookupError
    begun = _begun(database)
    _ask(database)
    assert len(begun) == 1
    database.close()


def test_who_opts_out_meanwhile_is_seen_within_the_block(store: Store) -> None:
    with store.read_transaction():
        assert store.opt_outs.read_opt_outs() == []
        store.opt_outs.add_opt_out(ENTRY)
        assert store.opt_outs.read_opt_outs() == [ENTRY]


def test_a_list_of_keys_is_looked_up_in_an_index(url: str) -> None:
    database = Database(url)
    asked = select(SERVER.c.id).where(matches_any(SERVER.c.key))
    with database.streaming() as connection:
        assert connection.execute(asked, {KEYS: []}).all() == []
        assert connection.execute(asked, {KEYS: list(range(5_000))}).all() == []
        if database.is_sqlite:
            statement = str(asked.compile(connection.engine))
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", ("[1]",)).all()
        else:
            connection.execute(text("SET LOCAL enable_seqscan = off"))
            statement = str(asked.compile(connection.engine))
            plan = connection.exec_driver_sql(f"EXPLAIN {statement}", {KEYS: [1]}).all()
    plan_text = " ".join(str(row) for row in plan)
    assert "SEARCH server" in plan_text if database.is_sqlite else "Index Cond" in plan_text
    database.close()
