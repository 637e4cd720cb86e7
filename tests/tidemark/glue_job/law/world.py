"""Where rows come from and go to in a test, and the account that is held of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.tidemark.glue_job.law.tables import Table, frozen
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.home import Home
from tidemark.local_state.run_warnings import read_warnings
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import table_of_request

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame

DRIVER = "org.apache.derby.jdbc.EmbeddedDriver"
_places = itertools.count(1)


@dataclass
class World:
    """A bucket, a Data Catalog, a database and a DynamoDB of a test.

    Attributes:
        glue: the context.
        root: URI and folder of the test's prefix.
        warnings_folder: the folder of a run, where its warnings are.
        home: the home of the session.
        dynamodb: a client.
        must_name: what a warning must name.
        said: what was chosen, for the message of a failure.
    """

    glue: GlueContext
    root: Any
    warnings_folder: Path
    home: Home
    dynamodb: Any
    derby: str
    must_name: set[str] = field(default_factory=set)
    said: list[Any] = field(default_factory=list)

    @property
    def spark(self) -> SparkSession:
        return self.glue.spark_session

    def place(self) -> tuple[str, Path]:
        """A new prefix: its URI and its folder."""
        name = f"place-{next(_places)}"
        folder = self.root.folder / name
        folder.mkdir(parents=True)
        return f"{self.root.uri}{name}/", folder

    def name(self) -> str:
        """The name of a new table."""
        return f"{self.root.folder.name}_{next(_places)}".replace("-", "_")

    def define(
        self,
        columns: Any,
        location: str,
        serde: Mapping[str, str],
        parameters: Mapping[str, str],
        keys: Any = (),
    ) -> str:
        """Define a new table of the Data Catalog, and return its name."""
        storage = {"Columns": columns, "Location": location, "SerdeInfo": {"Parameters": serde}}
        table = {
            "Name": self.name(),
            "PartitionKeys": keys,
            "StorageDescriptor": storage,
            "Parameters": parameters,
        }
        with Store(self.home.database) as store:
            put_tables(store, [table_of_request({"DatabaseName": "lake", "TableInput": table})])
        return str(table["Name"])

    def say(self, *words: Any) -> None:
        self.said.append(words)

    def account(self, frame: DynamicFrame, table: Table) -> None:
        """Rows and columns are those of the table, but for what errors and warnings name."""
        data = frame.toDF()
        warnings = read_warnings(self.warnings_folder)
        vanished = table.with_values - set(data.columns)
        unnamed = [name for name in vanished if not any(name in text for text in warnings)]
        assert not unnamed, ("columns vanish without a word", unnamed, self.said, warnings)
        unnamed = [name for name in self.must_name if not any(name in text for text in warnings)]
        assert not unnamed, ("data is left out without a word", unnamed, self.said, warnings)
        assert set(data.columns) <= set(table.kinds), (data.columns, table.kinds, self.said)
        kept = table.of_columns([name for name in table.kinds if name in data.columns])
        rows = [frozen(row) for row in data.collect()]
        assert Table(rows).counted == kept.counted, (self.said, rows, kept.rows)
        assert frame.errorsCount() == table.bad, self.said
