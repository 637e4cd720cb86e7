"""The state that the tests of one process share, and that of each test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.errors import UsageError
from tidemark.glue_service.commands import region
from tidemark.glue_service.runs.jvms.supply import Jvms, jvms_of
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.dynamodb import NOWHERE, have_tables
from tidemark.local_state.engine.other import ENDPOINT_VARIABLE
from tidemark.local_state.home import Home, delete_entry
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.local_state.store.database import TEMPORARY, Store
from tidemark.local_state.store.state_record import COPIES
from tidemark.local_state.watermark_tables import watermark_table
from tidemark.model.clock import now_ms
from tidemark.testing.empty_dynamodb import empty_dynamodb
from tidemark.testing.kills import Kill
from tidemark.testing.lake import Lake
from tidemark.testing.run import GlueRun
from tidemark.testing.spark_engine import SparkEngine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARED_BUCKET = "tests"  # of the fixture s3, whose prefixes belong to one test each
WATERMARKS = "glue-watermarks"
KEPT_WHEN_FAILED = ("lake", "runs", "glue.sqlite")


class Kit:
    """The shared state of the tests of one process: a home, Spark, JVMs for isolated runs."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        """Make the home; nothing is started.

        Args:
            folder: of the session.
            settings: Spark properties in addition to those of a job run.
        """
        self.folder = folder
        self.home = Home.open(folder / "home")
        # Nothing of it outlives the tests: the database need not reach the disk at each commit.
        (self.home.root / TEMPORARY).touch()
        self._empty = folder / "empty.sqlite"
        Store(self._empty).close()
        self._stack = ExitStack()
        self.settings = settings
        self.configured = os.environ.get(ENDPOINT_VARIABLE)
        self.engine = SparkEngine(self.home, folder / "spark", settings)
        self._reset()

    @cached_property
    def jvms(self) -> Jvms:
        """The pool that isolated runs borrow from; opened for the first of them."""
        return self._stack.enter_context(jvms_of(self.home))

    def close(self) -> None:
        """End everything that was started."""
        self.engine.close()
        self._stack.close()

    def clear(self, keep: Path | None = None) -> None:
        """Empty the home between two tests.

        Args:
            keep: a folder for its contents, for the inspection of a failed test.
        """
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            for kept in (self.home.root / name for name in KEPT_WHEN_FAILED):
                if kept.is_dir():
                    shutil.copytree(kept, keep / kept.name, dirs_exist_ok=True)
                elif kept.exists():
                    shutil.copy2(kept, keep)
        self._reset()

    def _reset(self) -> None:
        for folder in (self.home.lake, self.home.runs, self.home.dynamodb, self.home.derby):
            for entry in folder.iterdir() if folder.is_dir() else ():
                if entry != self.home.lake / SHARED_BUCKET:
                    delete_entry(entry)
        for name in ("", "-wal", "-shm"):
            Path(f"{self.home.database}{name}").unlink(missing_ok=True)
        # What a command of the test before has recorded would be missed, as if it were lost.
        for copy in COPIES:
            (self.home.root / copy).unlink(missing_ok=True)
        # A copy is faster than to make its tables again.
        shutil.copy2(self._empty, self.home.database)
        (self.home.lake / SHARED_BUCKET).mkdir(exist_ok=True)


@dataclass
class GlueTest:
    """The state of one test; fixtures are views on it.

    Attributes:
        kit: the shared state.
        project: pytest's root folder.
        folder: of the file with the test.
        why_isolated: why all of its runs get their own process; None if they do not.
        version: of Glue.
        runs: its job runs, in their order.
        kill: where to kill the next run.
    """

    kit: Kit
    project: Path
    folder: Path
    why_isolated: str | None = None
    version: str = field(default_factory=own_glue_version)
    runs: list[GlueRun] = field(default_factory=list)
    kill: Kill | None = None
    _endpoint: str = ""
    _stack: ExitStack = field(default_factory=ExitStack)

    @property
    def home(self) -> Home:
        """Its state home."""
        return self.kit.home

    @property
    def now_ms(self) -> Callable[[], int]:
        """The clock of Glue, in epoch milliseconds."""
        return now_ms

    @property
    def lake(self) -> Lake:
        """Its lake, on this machine."""
        return Lake(self.home, self.now_ms, self.spark)

    def machine(self) -> Machine:
        """Return the needs of its job runs."""
        # They get the DynamoDB of the test, or one that the test itself names in the environment.
        # One that the session was started with has the user's tables, which no test is to change.
        named = os.environ.get(ENDPOINT_VARIABLE)
        of_the_test = None if named == self.kit.configured else named
        return Machine(
            self.home, find_java_home(), self._endpoint or of_the_test or NOWHERE, region()
        )

    def spark(self) -> SparkSession:
        """Start Spark in this process, if it was not; return its session.

        Raises:
            UsageError: somebody else has started Spark in this process.
        """
        if not self.kit.engine.is_running and self.kit.engine.has_foreign_context():
            raise UsageError(
                "the tests have started their own Spark, and a process has one: ask for the "
                "fixture spark instead, which is that of the test kit"
            )
        return self.kit.engine.session

    @property
    def has_dynamodb(self) -> bool:
        """Whether it has opened DynamoDB."""
        return bool(self._endpoint)

    def dynamodb(self) -> str:
        """Open DynamoDB with the table of watermarks, if it was not; return its URL."""
        if not self._endpoint:
            endpoint = self._stack.enter_context(empty_dynamodb(self.home))
            have_tables(self.home, endpoint, [watermark_table(WATERMARKS)])
            self._endpoint = endpoint
        return self._endpoint

    def close(self) -> None:
        """End everything this test has started."""
        self._stack.close()
