"""Owns the JVMs of a command: starts them, lends each to one run at a time, ends them."""

import contextlib
import secrets
import shutil
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tidemark.errors import TidemarkError
from tidemark.glue_job.process.spark import FOR_SECONDS, write_spark_conf
from tidemark.glue_service.runs.jvms.control import Control, Gateway, JvmSettings
from tidemark.glue_service.runs.jvms.jvm import Jvm
from tidemark.glue_service.runs.jvms.output import FATAL
from tidemark.local_state.home import Home
from tidemark.local_state.machine.processes import inherited
from tidemark.local_state.sparks.installed import Spark

MARK_TIMEOUT_S = 30.0
MAX_RUNS = 500  # by then one needs 0.7 GB instead of 0.5


class NoJvmError(TidemarkError):
    """The pool lends no JVM now: the run starts its own."""


@dataclass(frozen=True)
class JvmRequest:
    """The JVM that a run needs.

    Attributes:
        spark: whose JVM it needs.
        settings: its system properties, and those of Spark.
        environment: its environment variables.
        stdout: the file for the JVM's output.
        stderr: the file for the JVM's errors and log.
    """

    spark: Spark
    settings: JvmSettings
    environment: Mapping[str, str]
    stdout: Path
    stderr: Path


class _Warm:
    """A JVM of the pool, and its state."""

    def __init__(self, jvm: Jvm, spark: Spark, *, is_quick: bool) -> None:
        self.jvm = jvm
        self.spark = spark
        self.is_quick = is_quick
        self.control: Future[Control] = Future()
        self.runs = 0
        self.mark = ""
        self.log: Path | None = None  # the stderr of the run that has it

    @property
    def has_died(self) -> bool:
        """Whether it was ready and has died; one that never was ready would fail again."""
        was_ready = self.control.done() and self.control.exception() is None
        return was_ready and not self.jvm.is_alive


@dataclass(frozen=True)
class Loan:
    """A JVM that a run has borrowed.

    Attributes:
        gateway: its address for the run.
        runs_before: the number of its runs before this one.
    """

    gateway: Gateway
    runs_before: int
    warm: _Warm


class Pool:
    """JVMs that wait for runs of any Spark. All methods may be called from any thread."""

    def __init__(
        self, folder: Path, java_home: Path, size: int, is_quick: Callable[[], bool] = lambda: False
    ) -> None:
        """Prepare a pool of JVMs; starts nothing.

        While `is_quick` returns true, its JVMs compile quickly and less well: for little data.
        """
        self._folder = folder
        self._java_home = java_home
        self._size = size
        self._is_quick = is_quick
        # Linux ends a child with the thread that created it: this one lives as long as the pool.
        self._starter = ThreadPoolExecutor(1, "start-jvm")
        self._change = threading.Condition()
        self._idle: list[_Warm] = []
        self._lent: set[_Warm] = set()
        self._cleaning: set[_Warm] = set()
        self._count = 0
        self._is_closed = False

    def want(self, number: int, spark: Spark) -> None:
        """Start JVMs of a Spark, without waiting, until there are ``number``, or all there may be.

        A JVM that died while it was idle is replaced.
        """
        # On a full disk each run starts a JVM of its own.
        with self._change, contextlib.suppress(OSError):
            for warm in [warm for warm in self._idle if warm.has_died]:
                self._idle.remove(warm)
                self._end(warm)
            while (
                self._number() < self._size and self._number(spark) < number and not self._is_closed
            ):
                self._idle.append(self._start(spark))

    def lend(self, request: JvmRequest) -> Loan:
        """Lend a JVM that no one else has, as soon as one is ready."""
        if not self._is_quick():
            self._end_quick_ones()
        for _ in range(2):  # an idle one may have died
            try:
                warm = self._take(request.spark)
            except OSError as error:
                raise NoJvmError(f"no JVM can be started: {error.strerror or error}") from error
            try:
                control = warm.control.result()
                warm.log = request.stderr
                warm.mark = f"<{secrets.token_hex(16)}>"
                warm.jvm.stdout.begin(request.stdout, warm.mark.encode())
                warm.jvm.stderr.begin(request.stderr, warm.mark.encode())
                gateway = control.begin(request.settings, request.environment)
            except Exception as error:  # noqa: BLE001 (whatever is wrong with this one)
                self.discard(warm)
                why = f"{type(error).__name__}: {error}"
                continue
            warm.runs += 1
            return Loan(gateway, warm.runs - 1, warm)
        raise NoJvmError(f"no JVM is ready: {why}")

    def end_run(self, loan: Loan, failure: str | None) -> str | None:
        """End a run, whose files then are complete; return why its JVM cannot be lent again."""
        warm = loan.warm
        why = self._unusable_reason(warm, failure)
        with self._change:
            if warm not in self._lent:
                return why or "it was ended"
            self._lent.discard(warm)
            self._cleaning.add(warm)
        return why

    def _unusable_reason(self, warm: _Warm, failure: str | None) -> str | None:
        try:
            was_active = warm.control.result().end(warm.mark)
        except Exception as error:  # noqa: BLE001 (as above)
            self.discard(warm)
            return f"it does not answer ({type(error).__name__})"
        is_printed = [
            output.wait_for_mark(MARK_TIMEOUT_S) for output in (warm.jvm.stdout, warm.jvm.stderr)
        ]
        if not all(is_printed):
            return "its output is cut off"
        if was_active:
            return "its Spark context was not stopped"
        if warm.jvm.stderr.is_fatal or (failure and any(name in failure for name in FATAL)):
            return "it had an error that it may not recover from"
        return f"it had {MAX_RUNS} runs" if warm.runs >= MAX_RUNS else None

    def take_back(self, loan: Loan, reason: str | None) -> str | None:
        """Reset a JVM for the next run, or end it; return why it was ended, if it was."""
        warm = loan.warm
        why = reason
        try:
            why = why or warm.control.result().clean() or None
        except Exception as error:  # noqa: BLE001 (as above)
            why = f"it does not answer ({type(error).__name__})"
        with self._change:
            if why is None and not self._is_closed:
                warm.log = None
                self._cleaning.discard(warm)
                self._idle.append(warm)
                self._change.notify_all()
                return None
        self.discard(warm)
        return why or "the pool is closed"

    def end_jvm_of(self, log: Path) -> None:
        """Make sure that no JVM works for a run any more."""
        with self._change:
            lent = [warm for warm in self._lent if warm.log == log]
        for warm in lent:
            self.discard(warm)

    def discard(self, warm: _Warm) -> None:
        """End a JVM, whatever it does; its files then have its complete output."""
        self._end(warm)
        with self._change:  # now another one may start
            self._lent.discard(warm)
            self._cleaning.discard(warm)
            self._change.notify_all()

    def close(self) -> None:
        """End every JVM, also those on loan, and delete the folder."""
        with self._change:
            self._is_closed = True
            ended = [*self._idle, *self._lent, *self._cleaning]
            self._idle.clear()
            self._change.notify_all()
        for warm in ended:
            self._end(warm)
        self._starter.shutdown()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _number(self, spark: Spark | None = None) -> int:
        every = [*self._idle, *self._lent, *self._cleaning]
        return sum(spark in (None, warm.spark) for warm in every)

    def _take(self, spark: Spark) -> _Warm:
        with self._change:
            while not self._is_closed:
                while idle := [warm for warm in self._idle if warm.spark == spark]:
                    # The one that ran last is the warmest.
                    warm = idle[-1]
                    self._idle.remove(warm)
                    if warm.jvm.is_alive:
                        self._lent.add(warm)
                        return warm
                    self._end(warm)
                if any(warm.spark == spark for warm in self._cleaning):
                    self._change.wait()
                elif self._number() < self._size:
                    warm = self._start(spark)
                    self._lent.add(warm)
                    return warm
                elif self._idle:  # one of another Spark makes room
                    self._end(self._idle.pop(0))
                elif self._cleaning:
                    self._change.wait()
                else:
                    raise NoJvmError(f"all {self._size} JVMs are in use")
        raise NoJvmError("the pool is closed")

    def _end_quick_ones(self) -> None:
        with self._change:
            for warm in [warm for warm in self._idle if warm.is_quick]:
                self._idle.remove(warm)
                self._end(warm)

    def _start(self, spark: Spark) -> _Warm:
        self._count += 1
        return self._starter.submit(self._started, self._folder / str(self._count), spark).result()

    def _started(self, folder: Path, spark: Spark) -> _Warm:
        folder.mkdir()
        # The settings of this home mean nothing: each run brings its own.
        variables = write_spark_conf(folder, Home(self._folder), self._java_home, {}, spark)
        is_quick = self._is_quick()
        options = {"SPARK_SUBMIT_OPTS": FOR_SECONDS} if is_quick else {}
        jvm = Jvm(folder, {**inherited(), **variables, **options})
        warm = _Warm(jvm, spark, is_quick=is_quick)
        threading.Thread(target=_connect, args=(warm,), daemon=True).start()
        return warm

    def _end(self, warm: _Warm) -> None:
        warm.jvm.end()
        with contextlib.suppress(Exception):  # it may never have existed
            if warm.control.done():
                warm.control.result().close()
        shutil.rmtree(warm.jvm.folder, ignore_errors=True)


def _connect(warm: _Warm) -> None:
    try:
        port, secret = warm.jvm.wait_until_ready()
        warm.control.set_result(Control(Gateway(port, secret)))
    except BaseException as error:  # noqa: BLE001 (raised where the JVM is asked for)
        warm.control.set_exception(error)
