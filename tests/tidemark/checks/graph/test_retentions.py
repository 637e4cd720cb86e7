"""Optimizers that delete files of a table while a job needs them: on plain data."""

from dataclasses import replace

import pytest

from tests.tidemark.checks.graph.graphs import graph, start
from tidemark.checks.graph.model import Retention, Timer
from tidemark.checks.graph.rules import problems
from tidemark.checks.graph.template import read_graph

DAILY, WEEKLY = "cron(0 6 * * ? *)", "cron(0 6 ? * MON *)"
MONTHLY, THURSDAYS = "cron(0 9 1 * ? *)", "cron(0 6 ? * THU *)"
IN_OFFICE_HOURS = "cron(0/5 8-18 ? * MON-FRI *)"


def found(kind, days, job, schedule=DAILY, *others):
    """Return where a table is told of whose files are deleted while one job uses it."""
    good = graph(replace(start("a"), schedule=schedule), jobs="a")
    jobs = (replace(good.jobs[0], tables=("sales.orders",), **job),)
    retentions = (Retention("s/r", "sales.orders", kind, days),)
    timers = tuple(Timer("s/t", "flights", other) for other in others)
    told = problems(replace(good, jobs=jobs, retentions=retentions, timers=timers))
    return [(p.at, p.is_error) for p in told if p.rule == "retention-too-short"]


WRITER = {"changes": ("sales.orders",)}
READER = {"is_incremental": True}


@pytest.mark.parametrize(
    ("kind", "days", "job", "schedule", "is_wrong"),
    [
        ("orphan_file_deletion", 1, WRITER | {"timeout_minutes": 10_080}, DAILY, True),
        ("orphan_file_deletion", 1, WRITER | {"timeout_minutes": 1_440}, DAILY, True),
        ("orphan_file_deletion", 1, WRITER | {"timeout_minutes": 60}, DAILY, False),
        ("orphan_file_deletion", 1, WRITER, DAILY, False),
        ("orphan_file_deletion", 1, READER | {"timeout_minutes": 10_080}, DAILY, False),
        ("retention", 5, READER, WEEKLY, True),
        ("retention", 1, READER, DAILY, True),
        ("retention", 2, READER, DAILY, False),
        ("retention", 8, READER, WEEKLY, False),
        ("retention", 5, {}, WEEKLY, False),
        ("retention", 5, READER | WRITER, WEEKLY, False),
    ],
)
def test_files_are_kept_longer_than_a_run_takes_and_a_reader_stays_away(
    kind, days, job, schedule, is_wrong
):
    assert found(kind, days, job, schedule) == ([("s/r", False)] if is_wrong else [])


@pytest.mark.parametrize(
    ("days", "schedules", "is_wrong"),
    [
        (7, (DAILY, MONTHLY), False),
        (5, (WEEKLY, THURSDAYS), False),
        (4, (WEEKLY, THURSDAYS), True),
        (2, (IN_OFFICE_HOURS,), True),
        (3, (IN_OFFICE_HOURS,), False),
        (1, ("cron(nonsense)",), False),
    ],
)
def test_a_reader_stays_away_between_any_two_starts_by_its_schedules(days, schedules, is_wrong):
    assert found("retention", days, READER, *schedules) == ([("s/r", False)] if is_wrong else [])


@pytest.mark.parametrize(
    ("kind", "settings", "days"),
    [
        ("retention", {}, 5),
        (
            "retention",
            {
                "RetentionConfiguration": {
                    "IcebergConfiguration": {"SnapshotRetentionPeriodInDays": 9}
                }
            },
            9,
        ),
        ("orphan_file_deletion", {}, 3),
        ("compaction", {}, None),
    ],
)
def test_the_days_of_a_template_are_read_or_those_of_aws(kind, settings, days):
    properties = {
        "DatabaseName": "sales",
        "TableName": "orders",
        "Type": kind,
        "TableOptimizerConfiguration": {"Enabled": True, **settings},
    }
    made = {"Type": "AWS::Glue::TableOptimizer", "Properties": properties}

    told = read_graph({"s": {"Resources": {"O": made}}}).retentions

    assert [(one.table, one.days) for one in told] == (
        [] if days is None else [("sales.orders", days)]
    )
