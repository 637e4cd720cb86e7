"""Variables of this process, which its job runs read, as long as one command works."""

import os
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
