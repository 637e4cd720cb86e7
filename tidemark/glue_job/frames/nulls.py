"""DropNullFields: the fields whose type is null in the schema that a frame shows.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-transforms-DropNullFields.html,
transforms/drop_nulls.py of https://github.com/awslabs/aws-glue-libs
"""

from collections.abc import Iterator

from pyspark.sql.types import ArrayType, DataType, NullType, StructType

from tidemark.glue_job.frames.types import ELEMENT, Choice, Steps


def null_fields(kind: DataType, shown: DataType, path: Steps = ()) -> Iterator[Steps]:
    """Yield the fields of a type that are of the type null in a schema, or not in it at all.

    It looks into structs, and into structs in arrays, but not into maps.
    """
    match kind, shown:
        case (Choice(), _) | (_, Choice()):
            return
        case StructType(), StructType():
            known = {field.name: field.dataType for field in shown}
            for field in kind:
                steps, seen = (*path, f".{field.name}"), known.get(field.name, NullType())
                if isinstance(seen, NullType):
                    yield steps
                else:
                    yield from null_fields(field.dataType, seen, steps)
        case ArrayType(elementType=element), ArrayType(elementType=seen):
            yield from null_fields(element, seen, (*path, ELEMENT))
