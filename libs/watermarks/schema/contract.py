"""A contract: which columns rows have, and what becomes of what is otherwise."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from watermarks.errors import WatermarkValueError

from .changes import SchemaChange, changes_between
from .terms import Terms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_SHOWN = 500  # characters of a text that cannot be read
Frame = TypeVar("Frame")
"""A DataFrame, or a DynamicFrame of Glue."""


@dataclass(frozen=True)
class Contract(Terms):
    """Which columns rows have, and what becomes of what is otherwise.

    Every value of a frame is in a row, or was rescued or taken out; only `columns="discard"` leaves
    values out. A value fits a type that
    says all that it says: the bigint 12 and the string "12" fit an int, and the string "007" does
    not. `Contract.from_json(args["schema_of_NAME"])` is the one that an app declares for a dataset.

    Attributes:
        schema: the columns, as a StructType or DDL; see `from_file` and `from_table`. None: the
            columns of the frame; of a window those that the watermark keeps of its target. It does
            not say whether a column may be null.
        columns: a column that the schema lacks is added (evolve), refused (freeze), left out
            (discard), or kept as JSON in the rescued column (rescue).
        types: a type is made wider if one holds the values of both (evolve); else, and with freeze,
            a value that does not fit is refused. Rescue keeps it as JSON, with null in its place;
            discard_row takes its row out, see `split`.
        missing: a column that a frame lacks is null, or refused (freeze).
        rescued: the name of the rescued column: JSON of the values by their columns, the fields of
            structs with dots, and the file as `_file_path`; null in a row that fits.
        quarantine: the folder of windows, as files of JSON, to which "discard_row" takes rows where
            a writer of windows has the contract as its `schema`.

    Raises:
        WatermarkValueError: a mode that does not exist, no name for the rescued column, or a
            quarantine for no rows.

    Example:
        >>> contract = Contract("id BIGINT, amount INT", columns="rescue", types="rescue")
        >>> columns = "id INT, amount STRING, tip DOUBLE"
        >>> frame = spark.createDataFrame([(1, "12", 0.5), (2, "a", None)], columns)
        >>> [tuple(row) for row in contract.apply(frame).orderBy("id").collect()]
        [(1, 12, '{"tip":0.5}'), (2, None, '{"amount":"a"}')]
    """

    @classmethod
    def from_json(cls, text: str) -> Contract:
        """Return the contract that an argument of the job has, `schema_of_NAME`, as JSON.

        Raises:
            WatermarkValueError: it is not JSON, has what no contract has, or is not valid.

        Example:
            >>> Contract.from_json('{"schema": "id BIGINT", "types": "rescue"}').types
            'rescue'
        """
        try:
            return cls(**json.loads(text))
        except (TypeError, ValueError, RecursionError) as error:
            known = ", ".join(field.name for field in fields(cls))
            raise WatermarkValueError(
                f"the contract is {str(text)[:_SHOWN]!r}: {error}; allowed is JSON, an object of "
                f"{known}: pass the argument schema_of_NAME as the job gets it"
            ) from error

    @classmethod
    def from_file(cls, path: str, **modes: Any) -> Contract:
        """Return a contract with the columns that a file says: DDL, or JSON of a StructType.

        A job of Glue finds a file of `--extra-files` in its working directory.

        Args:
            path: the file.
            **modes: the other attributes of a contract, by name.

        Raises:
            WatermarkValueError: the file cannot be read, or its JSON is not of a StructType.

        Example:
            >>> file = path + ".sql"
            >>> _ = Path(file).write_text("id BIGINT, amount INT")
            >>> Contract.from_file(file, columns="freeze").columns
            'freeze'
        """
        from .sources import schema_of_file

        return cls(schema_of_file(path), **modes)

    @classmethod
    def from_table(cls, spark: SparkSession, table: str, **modes: Any) -> Contract:
        """Return a contract with the columns of a table, such as `db.orders` of the Data Catalog.

        The columns of its partitions are among them; the rescued column is not.

        Args:
            spark: a session that has the Data Catalog as its own, as `--enable-glue-datacatalog`.
            table: the table, as SQL takes it.
            **modes: the other attributes of a contract, by name.

        Raises:
            WatermarkValueError: Spark has no such table.
        """
        from .sources import schema_of_table

        return cls(schema_of_table(spark, table, modes.get("rescued", cls.rescued)), **modes)

    def changes(self, frame: Any) -> list[SchemaChange]:
        """Return what a frame has otherwise than the schema, column by column; nothing is read."""
        from .plan import as_data_frame, is_case_sensitive, schema_of

        rows = as_data_frame(frame)
        return changes_between(
            schema_of(self, rows),
            rows.schema,
            is_case_sensitive=is_case_sensitive(rows.sparkSession),
        )

    def evolved(self, frame: Any) -> StructType:
        """Return the columns after a frame: the schema, and what evolves.

        Nothing is read. The rescued column is not one of them.
        """
        from .plan import as_data_frame, evolved

        return evolved(self, as_data_frame(frame))

    def apply(self, frame: Frame) -> Frame:
        """Return the rows of a DataFrame or a DynamicFrame with the columns of the contract.

        Returns:
            A frame of the same kind with one row per row; the columns of `evolved`, and the rescued
            column if columns or types are "rescue".

        Raises:
            SchemaContractError: the frame has what is refused. Where its types cannot say that, it
                is read once; nothing is written.
            WatermarkValueError: the schema is not valid; the frame has two columns of one name, or
                the rescued column; or types is "discard_row": see `split`.
        """
        if self.types == "discard_row":
            raise WatermarkValueError(
                'types is "discard_row", and apply would lose the rows that it takes out: write '
                "both frames of split(frame)"
            )
        return self.split(frame)[0]

    def split(self, frame: Frame) -> tuple[Frame, Frame]:
        """Return the rows that fit, as `apply` does, and those that are taken out.

        Returns:
            Two frames. The second one has the rows that "discard_row" takes out, as they are, and
            the rescued column, which says what does not fit.

        Raises:
            SchemaContractError, WatermarkValueError: as `apply`.
        """
        from watermarks.spark.columns import as_written

        from .plan import Plan, as_data_frame, like

        plan = Plan.of(self, as_data_frame(frame))
        with as_written(plan.frame.sparkSession):
            plan.check()
            return like(frame, plan.rows()), like(frame, plan.taken_out())
