"""Metadata of a snapshot: Croissant, Frictionless Data Package, JSON Schemas, licence and README."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import orjson

from publish.datasets.format.questions import render_questions
from publish.datasets.format.table_files import FileDigest
from publish.datasets.format.tables import (
    CSV,
    NOT_COMPARABLE,
    PARQUET,
    TABLES,
    Table,
    render_reference,
    table_file_name,
)
from publish.datasets.rows.evidence_bodies import LICENCES
from publish.datasets.snapshot.manifest import LICENCE, METHODOLOGY, SCHEMA

DATASET_NAME: Final = "hallmark"
DATASET_TITLE: Final = "Hallmark: measured quality of MCP servers"
DATASET_DESCRIPTION: Final = (
    "Scores of MCP servers under several published methodologies, with every line of every receipt and the evidence "
    "that they were made from, so that they can be computed again. Where nothing could be measured a column states "
    "why: absence is never a zero."
)
LICENCE_URL: Final = "https://creativecommons.org/licenses/by/4.0/"
_CONTEXT: Final[Mapping[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def make_documents(
    written: Mapping[str, FileDigest], *, comparable: bool, as_of: datetime | None, methodology: Mapping[str, Any]
) -> Iterator[tuple[str, bytes]]:
    """Each document about the files of a snapshot: its name and its bytes."""
    yield METHODOLOGY, _json(methodology)
    yield "croissant.json", _json(render_croissant(written, comparable=comparable, as_of=as_of))
    yield "datapackage.json", _json(render_datapackage(written, comparable=comparable, as_of=as_of))
    for table in TABLES:
        yield schema_file_name(table), _json(table.json_schema(comparable=comparable))
    yield "LICENSE.txt", render_licence().encode()
    yield "README.md", render_readme().encode()


def schema_file_name(table: Table) -> str:
    """The file that holds the JSON Schema of a table's lines."""
    return f"{table.name}.schema.json"


def render_croissant(written: Mapping[str, FileDigest], *, comparable: bool, as_of: datetime | None) -> dict[str, Any]:
    """Croissant 1.0 metadata of the Parquet files."""
    document: dict[str, Any] = {
        "@context": dict(_CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": DATASET_NAME,
        "description": DATASET_DESCRIPTION,
        "license": LICENCE_URL,
        "version": SCHEMA,
        "citeAs": _citation(as_of),
        "distribution": [_file_object(table, written) for table in TABLES],
        "recordSet": [_record_set(table, comparable=comparable) for table in TABLES],
    }
    return {**document, "datePublished": as_of.isoformat()} if as_of else document


def render_datapackage(
    written: Mapping[str, FileDigest], *, comparable: bool, as_of: datetime | None
) -> dict[str, Any]:
    """The Frictionless Data Package of the CSV files."""
    document: dict[str, Any] = {
        "profile": "data-package",
        "name": DATASET_NAME,
        "title": DATASET_TITLE,
        "description": DATASET_DESCRIPTION,
        "version": SCHEMA,
        "licenses": [{"name": LICENCE, "path": LICENCE_URL}],
        "resources": [_resource(table, written, comparable=comparable) for table in TABLES if not table.bulky],
    }
    return {**document, "created": as_of.isoformat()} if as_of else document


def render_licence() -> str:
    """The licence of a snapshot and of each kind of evidence in it."""
    kinds = "\n".join(f"- {kind}: {note}" for kind, note in sorted(LICENCES.items()))
    return (
        f"{DATASET_TITLE}\n\nTables, scores and metadata: Creative Commons Attribution 4.0 International ({LICENCE}),\n"
        f"{LICENCE_URL}\n\nThe bodies of evidence (table bodies), kind by kind:\n{kinds}\n"
    )


def render_readme() -> str:
    """The README of a snapshot: how to verify it, every column, and ten questions in SQL."""
    return (
        f"# {DATASET_TITLE}\n\n{DATASET_DESCRIPTION}\n\n"
        "Check the files with `sha256sum -c SHA256SUMS`, the signature, if there is one, with\n"
        "`minisign -Vm manifest.json -p KEY.pub`, and every score with `hallmark verify .`.\n\n"
        "JSON Lines hold each number exactly, as a string, and `verify` recomputes from them. Parquet and CSV hold it\n"
        "rounded. CSV cuts texts to 1,000 characters, shows hidden ones, and has no table of bodies.\n\n## Tables\n\n"
        f"{NOT_COMPARABLE} Not in the comparable form.\n\n{render_reference()}\n"
        "## Ten questions\n\nRun `duckdb` in this folder, and enter:\n\n" + render_questions()
    )


def _citation(as_of: datetime | None) -> str:
    return f"{DATASET_TITLE}, snapshot of {as_of.isoformat()}" if as_of else DATASET_TITLE


def _file_object(table: Table, written: Mapping[str, FileDigest]) -> dict[str, Any]:
    name = table_file_name(table, PARQUET)
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "description": table.about,
        "contentUrl": name,
        "contentSize": f"{written[name].bytes} B",
        "encodingFormat": "application/x-parquet",
        "sha256": written[name].sha256,
    }


def _record_set(table: Table, *, comparable: bool) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{table.name}/{column.name}",
            "name": column.name,
            "description": column.meaning,
            "dataType": column.croissant,
            **({"repeated": True} if column.type == "texts" else {}),
            "source": {"fileObject": {"@id": table_file_name(table, PARQUET)}, "extract": {"column": column.name}},
        }
        for column in table.shown(comparable=comparable)
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.about,
        "key": [{"@id": f"{table.name}/{name}"} for name in table.key],
        "field": fields,
    }


def _resource(table: Table, written: Mapping[str, FileDigest], *, comparable: bool) -> dict[str, Any]:
    name = table_file_name(table, CSV)
    return {
        "name": table.name.replace("_", "-"),
        "title": table.title,
        "description": table.about,
        "path": name,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "compression": "gz",
        "bytes": written[name].bytes,
        "schema": table.table_schema(comparable=comparable),
    }


def _json(value: Mapping[str, Any] | Sequence[Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
