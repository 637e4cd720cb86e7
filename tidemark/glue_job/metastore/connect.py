"""The side of the job process: offers the Data Catalog to the JVM that PySpark starts."""

import logging
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tidemark.glue_job.metastore.asked import SETTING, settings_of_script
from tidemark.glue_job.metastore.offer import offer
from tidemark.glue_job.process.after_import import LAUNCHER, AfterImport
from tidemark.glue_job.process.datalake_formats import local_settings
from tidemark.local_state.home import Home

if TYPE_CHECKING:
    from tidemark.glue_job.metastore.answers import Answers

OWN_CATALOG = "catalog.sqlite"  # of a run that did not ask for the Data Catalog


def serve_catalog(home: Home, *, is_asked: bool) -> None:
    """Answer Spark's questions about its catalog, once the script starts Spark."""

    def change(module: ModuleType) -> None:
        launch = module.launch_gateway

        def launch_gateway(conf: Any = None, popen_kwargs: Any = None) -> Any:
            given = dict(conf.getAll()) if conf is not None else {}
            changed = settings_of_script(home, given)
            for name, value in changed.items():
                conf.set(name, value)
            gateway = launch(conf, popen_kwargs)
            _connect(module, gateway, home, is_asked or SETTING in changed)
            return gateway

        module.launch_gateway = launch_gateway  # type: ignore[attr-defined]

    sys.meta_path.insert(0, AfterImport(LAUNCHER, change))
    sys.meta_path.insert(0, AfterImport("pyspark.sql.session", _change_options))
    sys.meta_path.insert(0, AfterImport("pyspark.sql.conf", _change_settings))


def _change_options(module: ModuleType) -> None:
    """Let the options of a session mean this machine, where they mean services of AWS."""
    builder = module.SparkSession.Builder
    get = builder.getOrCreate

    def get_or_create(self: Any) -> Any:
        self._options.update(local_settings(self._options))
        return get(self)

    builder.getOrCreate = get_or_create


def _change_settings(module: ModuleType) -> None:
    """Let a setting that a script makes later mean this machine too."""
    config = module.RuntimeConfig
    put = config.set

    def put_setting(self: Any, key: str, value: Any) -> None:
        put(self, key, local_settings({key: value}).get(key, value))

    config.set = put_setting


class Metastore:
    """Answers the JVM; what it takes to answer is imported for the first question."""

    def __init__(self, home: Home, database: Path) -> None:
        """Take what `Answers` takes; nothing is opened yet."""
        self._given = (home, database)
        self._answers: Answers | None = None

    def ask(self, request: str) -> str:
        """Return the answer to a request of `LocalCatalog.java`, both JSON."""
        if self._answers is None:
            from tidemark.glue_job.metastore.answers import Answers

            self._answers = Answers(*self._given)
        return self._answers.ask(request)


def _connect(module: ModuleType, gateway: Any, home: Home, is_asked: bool) -> None:
    database = home.database if is_asked else Path(OWN_CATALOG).absolute()
    # A script that logs all that Python's loggers say has nothing of this on AWS.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    module.ensure_callback_server_started(gateway)
    offer(gateway, Metastore(home, database).ask)
