"""Types that a table declares against those of its files: what does not fit makes a choice.

Source: https://github.com/aws-samples/aws-glue-samples/blob/master/examples/resolve_choice.md
"""

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    IntegralType,
    LongType,
    MapType,
    NullType,
    NumericType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from tidemark.glue_job.frames.types import alternatives, choice_of, merged
from tidemark.glue_job.readers.tables.declared_columns import Names

Types = tuple[type[DataType], ...]
# What is declared, and what values it takes of those that JSON has.
TAKES: tuple[tuple[type[DataType], Types], ...] = (
    (StringType, (DataType,)),
    (LongType, (NullType, IntegralType)),
    (IntegralType, (NullType, IntegerType)),
    (DoubleType, (NullType, NumericType)),
    (FloatType, (NullType, NumericType)),
    (DecimalType, (NullType, NumericType, StringType)),
    (TimestampType, (NullType, IntegralType, StringType)),
    (DateType, (NullType, StringType)),
    (BinaryType, (NullType, StringType)),
    (BooleanType, (NullType, BooleanType)),
    (StructType, (NullType, StructType)),
    (MapType, (NullType, StructType)),
    (ArrayType, (NullType, ArrayType)),
    (DataType, (DataType,)),
)


def declared_kind(declared: DataType, found: DataType, names: Names) -> DataType:
    """Return the declared type with the names of the files, a choice where values do not fit it."""
    kinds = alternatives(found)
    fitting = [one for one in kinds if _takes(declared, one)]
    others = [one for one in kinds if not _takes(declared, one)]
    return choice_of([_named(declared, fitting, names), *others])


def _takes(declared: DataType, found: DataType) -> bool:
    """Return whether values of a type are of a declared one, or for its parser to judge."""
    return isinstance(found, next(taken for kind, taken in TAKES if isinstance(declared, kind)))


def _named(declared: DataType, found: list[DataType], names: Names) -> DataType:
    """Return the declared type with the names of files, each spelling a field of its own."""
    match declared, found:
        case StructType(), [StructType() as record]:
            fields = [spelt for one in declared for spelt in _spellings(one, record, names)]
            return StructType(fields)
        case ArrayType(), [ArrayType(elementType=element)]:
            return ArrayType(declared_kind(declared.elementType, element, names))
        case MapType(), [StructType() as record]:
            value: DataType = NullType()
            for one in record:
                value = merged(value, one.dataType)
            return MapType(declared.keyType, declared_kind(declared.valueType, value, names))
    return declared


def _spellings(declared: StructField, found: StructType, names: Names) -> list[StructField]:
    fields = [found.fields[place] for place in names.places(declared.name, found)]
    return [
        StructField(one.name, declared_kind(declared.dataType, one.dataType, names))
        for one in fields
    ] or [declared]
