"""The compared tables of a run, read from the store as a snapshot would contain them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from evidence.model import ServerId
from evidence.store import RunRow, Store
from publish.datasets.differences.scores import COMPARED_TABLES
from publish.datasets.format.columns import Row
from publish.datasets.rows.server_rows import make_server_rows
from publish.views.public_servers import read_public_servers


class StoredRunRows(Struct, frozen=True):
    """The public rows of a stored run."""

    store: Store
    row: RunRow

    @property
    def pins(self) -> Mapping[str, str]:
        return self.row.run.pins

    def servers(self) -> Iterator[tuple[ServerId, Mapping[str, Sequence[Row]]]]:
        for server in read_public_servers(self.store, self.row.run.id, until=self.row.reviews_until):
            sheet = make_server_rows(server, None, self.row.run.id)
            yield server.dossier.server.id, {table.name: sheet[table.name] for table in COMPARED_TABLES}
