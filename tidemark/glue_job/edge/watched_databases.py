"""Lets a run that is proved change the embedded databases of its home, and no others.

Connections of JDBC come from a provider of Spark, or from `DriverManager`. `Watch.java` watches
both: in the driver, and as a plugin of Spark in executors.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from tidemark.glue_job.edge.announce import announced
from tidemark.glue_job.process.after_import import after_import
from tidemark.glue_job.process.spark import as_properties
from tidemark.local_state.home import Home
from tidemark.local_state.operations import COPIES, FOLDER, WITHHELD, records_operations

PLUGINS, PLUGIN = "spark.plugins", "dev.tidemark.jdbc.Watch"


def watch_databases(home: Home, conf: Path) -> None:
    """Watch the connections of the run of this process, by settings that its Spark gets."""
    copies = home.root / FOLDER / COPIES if records_operations(home) else ""
    properties = dict(line.split("=", 1) for line in conf.read_text(encoding="utf-8").splitlines())
    settings = {
        "spark.hadoop.tidemark.proved": "1",
        "spark.hadoop.tidemark.copies": str(copies),
        PLUGINS: ",".join(filter(None, [properties.get(PLUGINS), PLUGIN])),
    }
    with conf.open("a", encoding="utf-8") as file:
        file.write(as_properties(settings))
    after_import("pyspark.context", _watch_connections)
    after_import("watermarks.spark.upsert", _withhold_upserts)


def _watch_connections(module: ModuleType) -> None:
    start = module.SparkContext._do_init

    def start_and_watch(context: Any, *given: Any, **named: Any) -> None:
        start(context, *given, **named)
        context._jvm.dev.tidemark.jdbc.Watch.install()

    module.SparkContext._do_init = start_and_watch


def _withhold_upserts(module: ModuleType) -> None:
    def withheld(_: Any, options: Mapping[str, str], *__: Any, **___: Any) -> int:
        # Its statements are those of PostgreSQL, which an embedded database does not know.
        with announced((WITHHELD, re.sub(r"[?;].*|(?<=//)[^/]*@", "", options["url"]))):
            return 0

    setattr(module, "upsert_jdbc", withheld)  # noqa: B010 (mypy knows no such name)
