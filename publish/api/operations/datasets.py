"""Datasets: the snapshots of runs that can be downloaded whole, with the digest of each file."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from publish.api.contract.models import STRICT, Digest, RunKey, Time
from publish.api.contract.responses import format_time, json_response
from publish.datasets.snapshot.manifest import SnapshotFile
from publish.datasets.snapshot.storage import StoredSnapshot, describe_file, list_snapshots
from publish.web.context import SiteContext


@with_config(STRICT)
class DatasetFile(TypedDict):
    """One file of a snapshot."""

    name: Annotated[str, Field(examples=["scorecards.parquet"])]
    about: Annotated[str, Field(description="What it is, in a few words.", examples=["Receipts, one row for each"])]
    media_type: Annotated[str, Field(examples=["application/vnd.apache.parquet"])]
    bytes: int
    sha256: Annotated[Digest | None, Field(description="Null for what is not in the manifest.")]
    table: Annotated[
        str | None, Field(description="The table that it holds; null where it is none.", examples=["scorecards"])
    ]
    rows: Annotated[int | None, Field(description="Rows of the table; null where it is none.")]
    url: Annotated[
        str,
        Field(
            description="Where it is downloaded.",
            examples=["https://hallmark.example/datasets/20260301T030000Z-nightly/scorecards.parquet"],
        ),
    ]


@with_config(STRICT)
class Dataset(TypedDict):
    """A snapshot of one run. Its three versions are independent: of the columns, of the methodology, of the data."""

    id: Annotated[str, Field(examples=["20260301T030000Z-nightly"])]
    run: RunKey
    as_of: Time
    schema: Annotated[str, Field(description="Version of files and columns.", examples=["1.0.0"])]
    methodology: Annotated[str, Field(description="Version of rules and weights.", examples=["1.0.0"])]
    servers: Annotated[int, Field(description="How many servers are in it.")]
    licence: Annotated[str, Field(examples=["CC-BY-4.0"])]
    signed: Annotated[bool, Field(description="Whether the operator has signed its manifest.")]
    archive: Annotated[
        DatasetFile | None, Field(description="All files as one ZIP; null for a snapshot that has none.")
    ]
    files: list[DatasetFile]


@with_config(STRICT)
class DatasetList(TypedDict):
    """The snapshots that are kept, newest first."""

    datasets: list[Dataset]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["datasets"])

    @router.get("/datasets", operation_id="listDatasets", summary="Datasets to download", response_model=DatasetList)
    def list_datasets() -> Response:
        """Every snapshot with its files. `hallmark verify` recomputes its scores, and names what was changed."""
        found = [_dataset(site, snapshot) for snapshot in list_snapshots(site.backend.datasets)]
        return json_response({"datasets": found})

    return router


def _dataset(site: SiteContext, snapshot: StoredSnapshot) -> dict[str, Any]:
    return {
        "id": snapshot.id,
        "run": snapshot.run,
        "as_of": format_time(snapshot.as_of),
        "schema": snapshot.schema,
        "methodology": snapshot.methodology,
        "servers": snapshot.servers,
        "licence": snapshot.licence,
        "signed": snapshot.signed,
        "archive": None if snapshot.archive is None else _file(site, snapshot, snapshot.archive),
        "files": [_file(site, snapshot, file) for file in snapshot.files],
    }


def _file(site: SiteContext, snapshot: StoredSnapshot, file: SnapshotFile) -> dict[str, Any]:
    return {
        "name": file.name,
        "about": describe_file(file),
        "media_type": file.media_type,
        "bytes": file.bytes,
        "sha256": file.sha256 or None,
        "table": file.table,
        "rows": file.rows,
        "url": site.absolute(f"/datasets/{snapshot.id}/{file.name}"),
    }
