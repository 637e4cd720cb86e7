"""Results of a function of the script for records: computed once, with their common schema."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from pyspark import RDD, StorageLevel
from pyspark.sql import DataFrame, Row
from pyspark.sql.types import DataType, FloatType, StringType, StructField, StructType

from tidemark.glue_job.frames.absence import Absence, absence_of
from tidemark.glue_job.frames.choices import schema_of, with_marks
from tidemark.glue_job.frames.records import filled, kind_of, widened, writer
from tidemark.glue_job.frames.types import plain_type, types_in

Item = tuple[bool, Any, str, str]
"""Whether it is a record, then the record or the row, the error, and where it was raised."""
Run = Callable[[int, Iterable[Row]], Iterator[Item]]


class Mapped:
    """The results of a function for records; computed once, at the first access."""

    def __init__(self, frame: DataFrame, run: Run) -> None:
        """Keep the function to run: it takes the number of a partition and the rows of it."""
        self._spark = frame.sparkSession
        self._schema = schema_of(frame)
        self._items: RDD[Item] = frame.rdd.mapPartitionsWithIndex(run)
        self._items.persist(StorageLevel.MEMORY_AND_DISK)

    def absence(self) -> Absence:
        """Return the meaning of nulls in the records."""
        records = self._items.filter(_is_record).map(_record)
        places, null = dict[str, Counter[str]](), set[str]()
        for found, found_null in records.mapPartitions(_fields_of_partition).collect():
            null |= found_null
            for place, counts in found.items():
                places.setdefault(place, Counter()).update(counts)
        known, lacking = set[str](), set[str]()
        for counts in places.values():
            known |= counts.keys() - {_ALL}
            lacking |= {name for name, count in counts.items() if count < counts[_ALL]}
        return absence_of(known, null, lacking)

    def frame(self) -> DataFrame:
        """Return the records, with the common schema of all of them."""
        records = self._items.filter(_is_record).map(_record)
        hints = {one.name: one.dataType for one in self._schema}
        kinds = records.mapPartitions(partial(_kinds, self._schema)).collect()
        kind: DataType = StructType([])
        for one in kinds:
            kind = widened(kind, one)
        schema = StructType(
            [
                StructField(one.name, filled(one.dataType, hints.get(one.name)))
                for one in (kind if isinstance(kind, StructType) else StructType([]))
            ]
        )
        write = writer(schema)
        assert write is not None  # noqa: S101 (of a struct)
        return self._spark.createDataFrame(
            records.map(write), with_marks(schema), verifySchema=False
        )

    def failed(self) -> DataFrame:
        """Return the rows for which the function failed."""
        schema = StructType(
            [
                StructField("msg", StringType()),
                StructField("stackTrace", StringType()),
                StructField("dynamicRecord", plain_type(self._schema)),
            ]
        )
        rows = self._items.filter(lambda item: not item[0]).map(
            lambda item: (item[2], item[3], item[1])
        )
        return self._spark.createDataFrame(rows, schema, verifySchema=False)


_ALL = "\x00"  # among the names of fields: the number of records
Fields = tuple[dict[str, Counter[str]], set[str]]
"""The number of records that have a field, by parent and name; and the fields that are None."""


def _fields_of_partition(records: Iterable[Any]) -> Iterator[Fields]:
    """Yield the fields that the records of a partition have."""
    places, null = dict[str, Counter[str]](), set[str]()
    for record in records:
        _count_fields(record, "", places, null)
    yield places, null


def _count_fields(value: Any, place: str, places: dict[str, Counter[str]], null: set[str]) -> None:
    if isinstance(value, list):
        for one in value:
            _count_fields(one, place, places, null)
    elif isinstance(value, dict):
        counts = places.setdefault(place, Counter())
        counts.update([_ALL, *value])
        for name, one in value.items():
            if one is None:
                null.add(name)
            else:
                _count_fields(one, f"{place}.{name}", places, null)


def _is_record(item: Item) -> bool:
    return item[0]


def _record(item: Item) -> Any:
    return item[1]


_SIMPLE = frozenset((str, bool, float, type(None), bytes))


def _kinds(schema: StructType, records: Iterator[Any]) -> Iterator[DataType]:
    """Yield the common type of all records of a partition."""
    known = dict[tuple[Any, ...], None]()
    has_floats = any(isinstance(kind, FloatType) for _, kind in types_in(schema))
    simple = _SIMPLE - {float} if has_floats else _SIMPLE
    kind: DataType | None = None
    for record in records:
        # A key for the type of a record, unless it has parts, or numbers of any size.
        shape = tuple((name, type(value)) for name, value in record.items())
        is_simple = all(kind in simple for _, kind in shape)
        if is_simple and shape in known:
            continue
        found = kind_of(record, schema)
        kind = found if kind is None else widened(kind, found)
        if is_simple:
            known[shape] = None
    if kind is not None:
        yield kind
