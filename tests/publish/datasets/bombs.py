"""Files that are small on disk and large when they are read."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq

from publish.datasets.format.tables import TABLES_BY_NAME

_ONE_PAGE = 2**30


def dictionary_bomb(table: str, value: int, rows: int) -> bytes:
    """A small Parquet file of the columns of a table, in which every row has the same texts of so many bytes."""
    schema = TABLES_BY_NAME[table].arrow()
    text = pa.array(["x" * value])
    columns = [
        pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), text)
        if field.type == pa.string()
        else pa.array(["0"] * rows).cast(field.type)
        for field in schema
    ]
    fields = [
        pa.field(field.name, column.type, nullable=field.nullable)
        for field, column in zip(schema, columns, strict=True)
    ]
    file_schema, file = pa.schema(fields), io.BytesIO()
    with pq.ParquetWriter(
        file, file_schema, compression="zstd", store_schema=False, dictionary_pagesize_limit=_ONE_PAGE
    ) as writer:
        writer.write_table(pa.table(columns, file_schema), row_group_size=rows)
    return file.getvalue()
