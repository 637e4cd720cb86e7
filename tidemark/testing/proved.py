"""Asserts that no row is lost or doubled when a job goes wrong, by the experiments of `prove`."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tidemark.checks.lint.ignores import accepted_in
from tidemark.checks.script.surrogates import surrogates_of
from tidemark.errors import UsageError
from tidemark.glue_job.process.lake_fs.semantics import S3, VARIABLE
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.findings import NOT_ALL_TRIED, Wish
from tidemark.operate.prove.kinds.every import KINDS
from tidemark.operate.prove.prove import prove
from tidemark.operate.prove.subject import script_subject
from tidemark.operate.prove.words import lines_of
from tidemark.operate.versions.copies import copy_home
from tidemark.operate.versions.shared import ENDPOINTS
from tidemark.testing.comparison import fail, names_of
from tidemark.testing.glue_job import GlueJob
from tidemark.testing.state_of_test import current_test

# Two start a cluster, or another Spark, which takes much longer; `drift` asks for contracts.
QUICK = tuple(kind for kind in KINDS if kind not in ("executors", "versions", "drift"))


def assert_proved(
    script: str | Path,
    bookmark: object = "enable",
    *,
    only: str | Sequence[str] = QUICK,
    key: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] | None = None,
    budget: float | None = None,
    **arguments: Any,
) -> None:
    """Assert that no row is lost, doubled or changed, whatever goes wrong with a job.

    The script runs on copies of the test's lake, bookmarks and watermarks, in processes of its own:
    once as it should, then with a crash after each change that it makes, with nothing new, with its
    files in parts, in another order, twice, and after a rewind. The test's lake stays as it is.

    Args:
        script: its file, as for `glue_job`.
        bookmark: `"enable"`, `"pause"` or `"disable"`.
        only: the kinds of experiments, of docs/prove.md; without, all but `executors`,
            `versions` and `drift`.
        key: columns that identify a row; without, they are looked for.
        ignore: columns and targets that are not compared, such as `s3://lake/stage/`.
        budget: seconds after which nothing more is tried; None: all experiments are carried out.
        **arguments: of the script and of Glue.

    Raises:
        AssertionError: an experiment loses, doubles or changes rows, or fails; the message has
            each with its rows, its cause and what to do.
        UsageError: a kind is not known, or the script is missing.
        NotProvedError: the job fails without any experiment.

    Example:
        ::

            lake.put("landing/orders/1.json", [{"id": 1}], minutes_ago=5)
            lake.put("landing/orders/2.json", [{"id": 2}])
            assert_proved("load_orders.py", **paths)
    """
    __tracebackhide__ = True
    deadline = None if budget is None else time.monotonic() + budget
    test = current_test()
    job = GlueJob(test, test.lake)
    submission = job.submission(script, bookmark, arguments)
    if job.needs_watermarks(submission.script.read_bytes()):
        test.dynamodb()  # with its table
    subject = script_subject(submission)
    kinds = names_of(only)
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise UsageError(f"{unknown} are not kinds of experiments; allowed: {', '.join(KINDS)}")
    accepted, surrogates = accepted_in(subject.scripts), surrogates_of(subject.scripts.values())
    wish = Wish(kinds, deadline, names_of(key), accepted, surrogates, names_of(ignore))
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(dir=test.home.root.parent, prefix="proof-") as folder,
    ):
        patch.setenv(VARIABLE, S3)
        for name in [name for name in os.environ if name.startswith(ENDPOINTS)]:
            patch.delenv(name)  # each copy of the home has a DynamoDB of its own
        base = copy_home(test.home, Path(folder, "home"))
        proof = prove(Bench(subject, test.kit.jvms, Path(folder), base), wish)
    # A message that the job sends is compared by no test of rows.
    if proof.exit_code not in (0, NOT_ALL_TRIED) or proof.open_findings:
        fail("\n".join(lines_of(proof)))
