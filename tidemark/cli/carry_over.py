"""Carries out a carry-over plan: on this machine, or in the account of your credentials."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.checks.state.plan import PLAN, read_plan
from tidemark.checks.state.project import review_project
from tidemark.checks.state.read_app import read_app_folder
from tidemark.checks.state.steps import Action, StateStep, steps_of
from tidemark.cli.views.watermarks import render_values
from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_service.commands import region
from tidemark.local_state.bookmarks.carry_bookmarks import carry_bookmark, forget_ctx, rename_ctx
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.clock import now_ms
from watermarks import WatermarkAdmin, WatermarksError, WatermarkTableError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def steps_of_project(project: Path, assembly: Path, *, on_aws: bool) -> list[StateStep]:
    """Return the steps of the plan of a project."""
    review = review_project(project, assembly)
    if review.unused:
        entry, why = review.unused[0]
        raise UsageError(f"{PLAN}: {entry.text} cannot be carried out: {why}; take it out")
    app = read_app_folder(assembly)
    steps = steps_of(read_plan(project / PLAN), app, on_aws=on_aws)
    stated = {resource.name for resource in app.resources.values()}
    for step in steps:
        if on_aws and step.table and step.table not in stated:
            raise UsageError(
                f"the template gives the table of the watermarks of {step.to_job} no name, so it "
                "is not known here what AWS has called it; set its TableName"
            )
    return steps


def carry_out_locally(steps: Sequence[StateStep], home: Home) -> Iterator[tuple[StateStep, str]]:
    """Do the steps in a home, one after the other, and yield each with its result."""
    with ExitStack() as stack:
        stack.enter_context(home.exclusive())
        store = stack.enter_context(Store(home.database))
        dynamodb = None
        if any(step.action is Action.CARRY_WATERMARKS for step in steps):
            endpoint = stack.enter_context(dynamodb_endpoint(home))
            dynamodb = stack.enter_context(dynamodb_client(endpoint, region()))
        for step in steps:
            result, ctx = "", step.ctx
            match step.action:
                case Action.CARRY_WATERMARKS if dynamodb is not None:
                    result = _carry_watermarks(step, dynamodb, on_aws=False)
                case Action.CARRY_BOOKMARK:
                    result = carry_bookmark(store, step.job, step.to_job)
                case Action.RENAME_CTX:
                    result = rename_ctx(store, step.job, ctx, step.to_ctx, now_ms())
                case Action.FORGET_CTX:
                    result = forget_ctx(store, step.job, ctx, step.places, step.keys, now_ms())
            yield step, result


def carry_out_on_aws(steps: Sequence[StateStep]) -> Iterator[tuple[StateStep, str]]:
    """Do the steps in the account and region of your credentials; yield each with its result."""
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        dynamodb = boto3.client("dynamodb")
        for step in steps:
            is_done_there = step.action is Action.CARRY_WATERMARKS
            outcome = _carry_watermarks(step, dynamodb, on_aws=True) if is_done_there else ""
            yield step, outcome
    except (BotoCoreError, ClientError) as error:
        raise TidemarkError(
            f"AWS refuses: {error}; use credentials and a region of the account of the stage, then "
            "do it again: completed steps are not repeated"
        ) from error


def _carry_watermarks(step: StateStep, dynamodb: "DynamoDBClient", *, on_aws: bool) -> str:
    try:
        latest = WatermarkAdmin(step.table, dynamodb).rename_job(step.job, step.to_job)
    except WatermarkTableError as error:
        if error.reason != "not_found":
            raise TidemarkError(str(error)) from error
        if on_aws:
            raise TidemarkError(
                f"there is no table {step.table} in {dynamodb.meta.region_name} of this account, "
                "so nothing was carried over; use credentials and a region of the stage (where it "
                "was never deployed, there is nothing to rename)"
            ) from error
        return f"nothing to do: there is no table {step.table}"
    except WatermarksError as error:
        raise TidemarkError(str(error)) from error
    if latest is None:
        return "nothing to do: the old name never had any"
    values = render_values(latest.watermarks) or "windows only"
    return f"carried over: version {latest.version}, {values}"
