"""`tidemark rewind --deployed STAGE`: the same plan, carried out by calls of Glue and DynamoDB."""

import json
import time
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from tidemark.cli.bookmark import console_for_tables
from tidemark.cli.rewind_request import LAST, Request, number_of, plan_of, show_plan, with_declared
from tidemark.cli.target import assembly_of_stage, glue_of_stage
from tidemark.cli.where import Where
from tidemark.errors import TidemarkError, UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.model.assembly.cloud_assembly import Assembly
    from tidemark.operate.clients import Glue
    from tidemark.operate.rewind.deployed import StageRewinds
    from tidemark.operate.rewind.facts import Facts, Track
    from tidemark.operate.rewind.stage_records import StageRecord


def rewind_deployed(request: Request, where: Where) -> None:
    """Rewind jobs of a stage, undo or finish that, or list what was rewound."""
    if request.clear:
        raise UnsupportedError(
            "--clear deletes files of this machine's lake, from where they can come back; of a "
            "stage delete the partitions that the plan names yourself, and leave out --clear"
        )
    assembly = assembly_of_stage(where)
    with glue_of_stage(where, assembly) as glue, _translated(glue):
        rewinds, tables = _rewinds(glue)
        if request.lists:
            _show(rewinds.records(), request)
        elif request.undo is not None or request.resume:
            _go_back_or_on(rewinds, request)
        else:
            _rewind(glue, rewinds, tables, request, where, assembly)


def _rewind(
    glue: "Glue",
    rewinds: "StageRewinds",
    tables: Mapping[str, list[str]],
    request: Request,
    where: Where,
    assembly: "Assembly",
) -> None:
    rewinds.check_none_is_open()
    facts, windows = _facts(glue, rewinds, tables)
    plan = plan_of(with_declared(facts, assembly), request)
    if request.dry_run or request.output == "table":
        show_plan(plan, request, [])
    if request.dry_run:
        return
    if not plan.states:
        rewinds.note_nothing(plan, actor=request.actor, why=request.why or "", at_ms=_now_ms())
        return
    why = request.reason
    if not request.yes:
        names = ", ".join(one.job for one in plan.jobs if one.states)
        click.confirm(f"Rewind {names} in {glue.where}?", abort=True)
    record = rewinds.carry_out(plan, windows, actor=request.actor, why=why, at_ms=_now_ms())
    if record is None:
        click.echo("rewound; the stage has no watermark table, so who and why is not recorded")
        return
    _tell(record, request, f"rewound: number {record.number}")
    if request.output == "table":
        click.echo(f"`tidemark rewind --undo {record.number}{where.option}` takes it back")


def _go_back_or_on(rewinds: "StageRewinds", request: Request) -> None:
    if request.resume:
        done = rewinds.resume()
        _tell(done, request, f"rewind {done.number} is finished")
        return
    number = number_of(request)
    if not request.yes:
        which = "the last rewind" if request.undo == LAST else f"rewind {number}"
        click.confirm(f"Undo {which}?", abort=True)
    undone, stayed = rewinds.undo(number)
    besides = f"; {', '.join(stayed)} moved on since it was interrupted, and stays so"
    _tell(undone, request, f"rewind {undone.number} is undone{besides if stayed else ''}")


def _rewinds(glue: "Glue") -> tuple["StageRewinds", dict[str, list[str]]]:
    """Return the rewinds of a stage, and its jobs with watermarks by table."""
    import boto3

    from tidemark.operate.checkpoints import watermark_table_of
    from tidemark.operate.rewind.deployed import StageRewinds

    tables: dict[str, list[str]] = {}
    for job in glue.names.jobs:
        if table := watermark_table_of(glue, job):
            tables.setdefault(table, []).append(job)
    dynamodb = boto3.client("dynamodb", region_name=glue.glue.meta.region_name)
    return StageRewinds(glue, dynamodb, min(tables, default=None)), tables


def _facts(
    glue: "Glue", rewinds: "StageRewinds", tables: Mapping[str, list[str]]
) -> tuple["Facts", dict[tuple[str, str, str], Mapping[str, Any]]]:
    from tidemark.operate.checkpoints import checkpoints_of_stage
    from tidemark.operate.rewind.stage_facts import facts_of_stage
    from tidemark.operate.rewind.watermark_tracks import tracks_of_table
    from watermarks import WatermarkAdmin

    tracks: list[Track] = []
    windows: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for table, jobs in tables.items():
        found, items = tracks_of_table(WatermarkAdmin(table, rewinds.dynamodb), jobs)
        tracks += found
        windows |= items
    checkpoints = checkpoints_of_stage(glue)
    return facts_of_stage(glue, checkpoints, tracks, _now_ms()), windows


@contextmanager
def _translated(glue: "Glue") -> "Iterator[None]":
    from botocore.exceptions import BotoCoreError, ClientError

    from watermarks import WatermarksError

    try:
        yield
    except WatermarksError as error:
        raise UsageError(str(error)) from error
    except (BotoCoreError, ClientError) as error:
        raise TidemarkError(f"{glue.where} refuses: {error}") from error


def _show(records: "list[StageRecord]", request: Request) -> None:
    from tidemark.cli.views.rewind import stage_listing

    if request.output == "json":
        click.echo(json.dumps([asdict(one) for one in records], indent=2))
    elif records:
        console_for_tables().print(stage_listing(records), soft_wrap=True)
    else:
        click.echo("nothing was rewound there")


def _tell(record: "StageRecord", request: Request, text: str) -> None:
    click.echo(json.dumps(asdict(record), indent=2) if request.output == "json" else text)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
