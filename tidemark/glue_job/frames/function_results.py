"""Results of a function of the script for records: computed once, with their common schema."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from pyspark import RDD, StorageLevel
from pyspark.sql import DataFrame, Row
from pyspark.sql.types import DataType, FloatType, StringType, StructType

from tidemark.glue_job.frames.absence import Absence, absence_of
from tidemark.glue_job.frames.choices import schema_of, with_marks
from tidemark.glue_job.frames.records import filled, kind_of, record_writer, widened
from tidemark.glue_job.frames.types import plain_type, struct_type, types_in

Item = tuple[bool, Any, str, str]
"""Whether it is a record, then the record or the row, the error, and where it was raised."""
Run = Callable[[int, Iterable[Row]], Iterator[Item]]


class FunctionResults:
    """The results of a function for records; computed once, at the first access."""

    def __init__(self, frame: DataFrame, run: Run) -> None:
        """Keep the function to run: it takes the number of a partition and the rows of it."""
        self._spark = frame.sparkSession
        self._schema = schema_of(frame)
        self._items: RDD[Item] = frame.rdd.mapPartitionsWithIndex(run)
        # The schema, the meaning of nulls and the rows are passes over them; the function runs
        # once.
        self._items.persist(StorageLevel.MEMORY_AND_DISK)

    def _records(self) -> RDD[Any]:
        return self._items.filter(lambda item: item[0]).map(lambda item: item[1])

    def absence(self) -> Absence:
        """Return the meaning of nulls in the records."""
        places, null = dict[str, Counter[str]](), set[str]()
        for of_partition, found_null in (
            self._records().mapPartitions(_fields_of_partition).collect()
        ):
            null |= found_null
            for place, counts in of_partition.items():
                places.setdefault(place, Counter()).update(counts)
        known, lacking = set[str](), set[str]()
        for counts in places.values():
            known |= counts.keys() - {_ALL}
            lacking |= {name for name, count in counts.items() if count < counts[_ALL]}
        return absence_of(known, null, lacking)

    def frame(self) -> DataFrame:
        """Return the records, with the common schema of all of them."""
        records = self._records()
        hints = {field.name: field.dataType for field in self._schema}
        kinds = records.mapPartitions(partial(_kinds, self._schema)).collect()
        kind: DataType = StructType([])
        for of_partition in kinds:
            kind = widened(kind, of_partition)
        fields = kind if isinstance(kind, StructType) else ()
        schema = struct_type((f.name, filled(f.dataType, hints.get(f.name))) for f in fields)
        rows = records.map(record_writer(schema))
        return self._spark.createDataFrame(rows, with_marks(schema), verifySchema=False)

    def failed(self) -> DataFrame:
        """Return the rows for which the function failed."""
        texts, record = dict.fromkeys(("msg", "stackTrace"), StringType()), plain_type(self._schema)
        schema = struct_type({**texts, "dynamicRecord": record}.items())
        failed = self._items.filter(lambda item: not item[0])
        rows = failed.map(lambda item: (item[2], item[3], item[1]))
        return self._spark.createDataFrame(rows, schema, verifySchema=False)


_ALL = "\x00"  # among the names of fields: the number of records
Fields = tuple[dict[str, Counter[str]], set[str]]
"""The number of records that have a field, by parent and name; and the fields that are None."""


def _fields_of_partition(records: Iterable[Any]) -> Iterator[Fields]:
    places, null = dict[str, Counter[str]](), set[str]()
    for record in records:
        _count_fields(record, "", places, null)
    yield places, null


def _count_fields(value: Any, place: str, places: dict[str, Counter[str]], null: set[str]) -> None:
    if isinstance(value, list):
        for part in value:
            _count_fields(part, place, places, null)
    elif isinstance(value, dict):
        places.setdefault(place, Counter()).update([_ALL, *value])
        for name, part in value.items():
            if part is None:
                null.add(name)
            else:
                _count_fields(part, f"{place}.{name}", places, null)


_SIMPLE = frozenset((str, bool, float, type(None), bytes))


def _kinds(schema: StructType, records: Iterator[Any]) -> Iterator[DataType]:
    shapes = dict[tuple[Any, ...], None]()
    has_floats = any(isinstance(kind, FloatType) for _, kind in types_in(schema))
    simple = _SIMPLE - {float} if has_floats else _SIMPLE
    kind: DataType | None = None
    for record in records:
        # A key for the type of a record, unless it has parts, or numbers of any size.
        shape = tuple((name, type(value)) for name, value in record.items())
        is_simple = all(kind in simple for _, kind in shape)
        if is_simple and shape in shapes:
            continue
        record_kind = kind_of(record, schema)
        kind = record_kind if kind is None else widened(kind, record_kind)
        if is_simple:
            shapes[shape] = None
    if kind is not None:
        yield kind
