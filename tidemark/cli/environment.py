"""Variables and signals of this process, as long as one command works; job runs read them."""

import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click

from tidemark.glue_job.cluster.asked import EXECUTORS_VARIABLE, MASTER_VARIABLE, asked_for
from tidemark.glue_job.process.lake_fs.semantics import S3, VARIABLE


@contextmanager
def variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables for the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def with_executors(executors: str | None, master: str | None) -> Iterator[None]:
    """Let the runs of the block have the executors that --executors and --master name."""
    options = {EXECUTORS_VARIABLE: executors, MASTER_VARIABLE: master}
    with variables({name: value for name, value in options.items() if value is not None}):
        asked_for(os.environ)  # refuses what is not a number
        yield


def ask_for_s3(context: click.Context) -> None:
    """Give the lake S3's semantics as long as the command works."""
    context.with_resource(variables({VARIABLE: S3}))


@contextmanager
def interrupted_once(is_interrupted: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C or SIGTERM of the block only set an event."""

    def interrupt(_number: int, _frame: object) -> None:
        if is_interrupted.is_set():
            raise KeyboardInterrupt
        is_interrupted.set()

    before = {
        number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
