"""File formats of a table: the Hive classes that name them to Athena, Glue and Spark.

Source: https://docs.aws.amazon.com/athena/latest/ug/supported-serdes.html
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong

HIVE = "org.apache.hadoop.hive"
TEXT_CLASSES = (
    "org.apache.hadoop.mapred.TextInputFormat",
    f"{HIVE}.ql.io.HiveIgnoreKeyTextOutputFormat",
)
# OpenCSVSerDe returns other types incorrectly: dates and times only as numbers, no decimals.
# Source: https://docs.aws.amazon.com/athena/latest/ug/csv-serde.html
QUOTED_TYPES = ("string", "boolean", "bigint", "int", "double")

# OpenCSVSerDe takes a character of Java, LazySimpleSerDe a byte: it reads a digit as its number.
OPEN_CSV = re.compile(r"[^\0\r\n\U00010000-\U0010ffff]")
LAZY_SIMPLE = re.compile(r"(?![\r\n0-9])[\x01-\x7f]")


@checked
@dataclass(frozen=True)
class TableFormat:
    """A file format; create it with `TableFormat.parquet()` and the like.

    Attributes:
        name: Glue's classification.
        serde: class of the SerDe.
        input_format: class that reads files.
        output_format: class that writes files.
        serde_parameters: parameters of the SerDe.
        parameters: table properties.

    Example:
        >>> TableFormat.parquet().name
        'parquet'
    """

    name: str
    serde: str
    input_format: str
    output_format: str
    serde_parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def parquet(cls) -> Self:
        """Return Parquet."""
        return cls(
            "parquet",
            f"{HIVE}.ql.io.parquet.serde.ParquetHiveSerDe",
            f"{HIVE}.ql.io.parquet.MapredParquetInputFormat",
            f"{HIVE}.ql.io.parquet.MapredParquetOutputFormat",
            {"serialization.format": "1"},
        )

    @classmethod
    def orc(cls) -> Self:
        """Return ORC."""
        return cls(
            "orc",
            f"{HIVE}.ql.io.orc.OrcSerde",
            f"{HIVE}.ql.io.orc.OrcInputFormat",
            f"{HIVE}.ql.io.orc.OrcOutputFormat",
            {"serialization.format": "1"},
        )

    @classmethod
    def json(cls) -> Self:
        """Return JSON, one object per line."""
        return cls("json", "org.openx.data.jsonserde.JsonSerDe", *TEXT_CLASSES)

    @classmethod
    @checked
    def csv(
        cls, *, delimiter: str = ",", header: bool = False, quote: str = "", escape: str = "\\"
    ) -> Self:
        """Return CSV.

        Args:
            delimiter: the character between two values.
            header: whether the first line of each file has the names of the columns.
            quote: the character around values; OpenCSVSerDe then knows few types; empty: none.
            escape: the character before one that is taken literally.

        Raises:
            JobDefinitionError: one of them is not a character, or two are equal.
        """
        character = OPEN_CSV if quote else LAZY_SIMPLE
        for key, text in (("delimiter", delimiter), ("quote", quote), ("escape", escape)):
            if not character.fullmatch(text) and not (key == "quote" and not text):
                allowed = "one character, no NUL or line end, without quote= of ASCII and no digit"
                raise wrong("a csv table", key, text, allowed)
        used = [text for text in (delimiter, quote, escape) if text]
        if len(set(used)) < len(used):
            raise JobDefinitionError(
                f"a csv table has {delimiter!r}, {quote!r} and {escape!r} for delimiter, quote and "
                "escape; allowed: characters that differ; change one"
            )
        parameters = {"skip.header.line.count": "1"} if header else {}
        if quote:
            serde = {"separatorChar": delimiter, "quoteChar": quote, "escapeChar": escape}
            return cls("csv", f"{HIVE}.serde2.OpenCSVSerde", *TEXT_CLASSES, serde, parameters)
        serde = {
            "field.delim": delimiter,
            "serialization.format": delimiter,
            "escape.delim": escape,
        }
        return cls("csv", f"{HIVE}.serde2.lazy.LazySimpleSerDe", *TEXT_CLASSES, serde, parameters)

    @classmethod
    @checked
    def avro(cls, schema: str) -> Self:
        """Return Avro.

        Args:
            schema: the schema of the files, as JSON: Athena requires it.

        Raises:
            JobDefinitionError: it is not the schema of a record.
        """
        try:
            read = json.loads(schema)
            fields = [column["name"] for column in read["fields"]]
            is_record = read["type"] == "record" and bool(fields)
        except (KeyError, TypeError, ValueError):
            is_record = False
        if not is_record:
            raise JobDefinitionError(
                f"an avro table has the schema {schema!r}; allowed: an Avro schema as JSON, of a "
                "record with fields; correct schema="
            )
        return cls(
            "avro",
            f"{HIVE}.serde2.avro.AvroSerDe",
            f"{HIVE}.ql.io.avro.AvroContainerInputFormat",
            f"{HIVE}.ql.io.avro.AvroContainerOutputFormat",
            {"avro.schema.literal": schema},
        )

    @property
    def fields(self) -> list[str] | None:
        """The names of the columns if the format itself has them, else None."""
        schema = self.serde_parameters.get("avro.schema.literal")
        return None if schema is None else [f["name"] for f in json.loads(schema)["fields"]]
