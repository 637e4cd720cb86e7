"""Finds the pool from which the runs of a command borrow, or opens one for the command."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tidemark.glue_job.cluster.asked import asked_for
from tidemark.glue_job.process.pool import (
    POOL_VARIABLE,
    PoolGoneError,
    PoolSilentError,
    ask,
    connect,
    fingerprint,
    read_pool_file,
)
from tidemark.glue_job.process.spark import has_little_data
from tidemark.glue_service.runs.jvms.pool import Pool
from tidemark.glue_service.runs.jvms.server import serve_pool
from tidemark.glue_service.runs.pythons import Pythons
from tidemark.local_state.home import JVM_POOL_FILE, JVMS_FOLDER, Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import Spark, own_spark

MIN_MEMORY_BYTES = 3 * 1024**3
ISOLATED = "--isolated was given"


@dataclass(frozen=True)
class Jvms:
    """The source of JVMs for the runs of a command.

    Attributes:
        pool_file: the file of a pool; None if every run starts its own JVM.
        cold_reason: why there is no pool; empty if there is one.
        pool: the pool, if this process owns it.
        pythons: job processes of this command that wait for a run; None if none do.
        turn: which of them the runs take, see `Pythons.take`.
    """

    pool_file: Path | None = None
    cold_reason: str = ""
    pool: Pool | None = None
    pythons: Pythons | None = None
    turn: int | None = None

    def want(self, number: int, spark: Spark | None = None) -> None:
        """Start what runs of a Spark will need soon, without waiting: JVMs and Pythons."""
        spark = spark or own_spark()
        if self.pythons is not None:
            self.pythons.want(number, replace(spark, format_jars=()))
        if self.pool is not None:
            self.pool.want(number, spark)

    def end_jvm_of(self, log: Path) -> None:
        """Make sure that no JVM works for a run any more; ``log`` is its ``stderr.log``."""
        if self.pool is not None:
            self.pool.end_jvm_of(log)
        elif self.pool_file is not None:
            try:
                # Wait for a suspended owner: until it continues, the JVM may still write.
                with connect(self.pool_file, None) as connection:
                    ask(connection, {"end": str(log)}, None)
            except PoolGoneError:
                return  # and its JVMs with it


NO_JVMS = Jvms(cold_reason="no pool was opened")


@contextmanager
def jvms_of(
    home: Home,
    *,
    is_isolated: bool = False,
    is_ahead: bool = True,
    pythons: Pythons | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[Jvms]:
    """Yield the JVMs for the runs of a command, and its Pythons, the first ones starting.

    They start with the first run of Spark if not `is_ahead`: none do for Python shell jobs.

    The JVMs come from the pool that ``TIDEMARK_JVM_POOL`` names, else from one that another command
    has open for this home, else from one of this command's own.
    """
    if is_isolated:
        yield Jvms(cold_reason=ISOLATED)
        return
    if why := asked_for(os.environ).own_jvm_reason:
        yield Jvms(cold_reason=why, pythons=pythons)
        return
    java_home = find_java_home()
    file = Path(os.environ.get(POOL_VARIABLE) or home.root / JVM_POOL_FILE)
    with ExitStack() as stack:
        pythons = pythons or stack.enter_context(closing(Pythons()))
        if is_ahead:
            pythons.want(1, own_spark())
        jvms = None
        try:
            if is_usable(file, java_home):
                jvms = Jvms(file)
        except ValueError as error:
            say(f"{error}: this command does not use it")
        jvms = jvms or _open_pool(stack, home, java_home)
        if jvms.cold_reason:
            say(f"every job run starts a JVM of its own: {jvms.cold_reason}")
        if is_ahead:
            jvms.want(1)
        yield replace(jvms, pythons=pythons)


def is_usable(file: Path, java_home: Path) -> bool:
    """Return whether a file names a pool with JVMs like those that this command would start."""
    pool = read_pool_file(file)
    if pool is None or pool.jvms != fingerprint(java_home):
        return False
    try:
        connect(file).close()  # the process id of a killed owner may be another process by now
    except PoolSilentError as error:
        raise ValueError(f"{file} names a pool that does not answer: {error}") from error
    except PoolGoneError:
        return False
    return True


def lends_jvms(home: Home, number: int) -> bool:
    """Return whether a command has a pool of at least so many JVMs open for a home."""
    with suppress(ValueError):
        pool = read_pool_file(home.root / JVM_POOL_FILE)
        return pool is not None and pool.size >= number
    return False


def memory_shortage() -> str:
    """Return why this machine is too small for a pool; empty if it is not."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if memory >= MIN_MEMORY_BYTES:
        return ""
    size, least = (f"{count / 1024**3:.1f} GB" for count in (memory, MIN_MEMORY_BYTES))
    return f"this machine has {size} of memory, and a pool needs {least}"


@contextmanager
def second_jvm(home: Home, jvms: Jvms) -> Iterator[Jvms]:
    """Yield a JVM more than a command has: runs of another Spark then end none of its warm ones."""
    with ExitStack() as stack:
        yield replace(_open_pool(stack, home, find_java_home(), 1), pythons=jvms.pythons)


def _open_pool(stack: ExitStack, home: Home, java_home: Path, size: int = 0) -> Jvms:
    if why := memory_shortage():
        return Jvms(cold_reason=why)
    size, is_quick = size or os.cpu_count() or 1, partial(has_little_data, home)
    try:
        pool, file = stack.enter_context(
            serve_pool(home.root / JVMS_FOLDER, java_home, size, is_quick=is_quick)
        )
    except OSError as error:
        return Jvms(cold_reason=f"no pool could be opened ({error.strerror or error})")
    return Jvms(file, pool=pool)
