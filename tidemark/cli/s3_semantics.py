"""The option that gives the lake S3's semantics for the job runs of one command."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from tidemark.glue_job.process.lake_fs.semantics import S3, VARIABLE

S3_SEMANTICS_HELP = (
    "Let s3:// be as S3 is: objects appear whole when their upload ends, and a rename copies and "
    "deletes each object. Without, a bucket is a folder of this machine."
)
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def s3_semantics_option(*, expose_value: bool) -> Callable[[Decorated], Decorated]:
    """Return the option, which sets the variable of the command as long as this works."""
    return click.option(
        "--s3-semantics",
        is_flag=True,
        callback=_set,
        expose_value=expose_value,
        help=S3_SEMANTICS_HELP,
    )


def _set(ctx: click.Context, _: click.Parameter, asked: bool) -> bool:
    if asked:
        ask_for_s3(ctx)
    return asked


def ask_for_s3(ctx: click.Context) -> None:
    """Give the lake S3's semantics as long as the command works."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = S3
    ctx.call_on_close(lambda: _restore(before))


def _restore(before: str | None) -> None:
    if before is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = before
