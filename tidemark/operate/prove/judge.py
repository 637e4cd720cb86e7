"""Compares what experiments have left with the baseline, by one job for all of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.glue_service.submit import Submission, submit
from tidemark.local_state.home import Home
from tidemark.operate.prove.bench import Bench, Outcome
from tidemark.operate.prove.judged import TargetRows
from tidemark.operate.versions.targets import Files, Target, changed_targets, files_of

JUDGE_JOB = Path(__file__).with_name("judge_job.py")


def judge(
    bench: Bench,
    baseline: Outcome,
    control: Outcome,
    outcomes: Sequence[Outcome],
    key: Sequence[str],
) -> tuple[list[list[TargetRows]], dict[str, list[str]]]:
    """Return the targets of each outcome, and the columns of each target that differ by time.

    Args:
        bench: of the experiments.
        baseline: the run that went well.
        control: a second run like it: what differs between the two is left out.
        outcomes: of the experiments.
        key: the columns that identify a row; empty: they are looked for.
    """
    homes = [baseline.home, *(one.home for one in outcomes), control.home]
    found = [files_of(home.lake) for home in homes]
    targets = changed_targets(files_of(bench.base.lake), found[0])
    asked = [_asked(target, homes, found) for target in targets]
    answers = _answers(bench, asked, key) if targets else []
    by_time = {
        target.uri: answer["by_time"]
        for target, answer in zip(targets, answers, strict=True)
        if answer["by_time"]
    }
    judged = [
        [_rows(target, answer, number) for target, answer in zip(targets, answers, strict=True)]
        for number in range(1, len(outcomes) + 1)
    ]
    return judged, by_time


def _asked(target: Target, homes: Sequence[Home], found: Sequence[Files]) -> dict[str, Any]:
    *sides, control = [
        target.within(home.lake, files) for home, files in zip(homes, found, strict=True)
    ]
    return {"format": target.format, "sides": sides, "control": control}


def _answers(
    bench: Bench, asked: Sequence[dict[str, Any]], key: Sequence[str]
) -> list[dict[str, Any]]:
    question, out = bench.scratch / "asked.json", bench.scratch / "judged.json"
    document = {"out": str(out), "key": list(key), "targets": asked}
    question.write_text(json.dumps(document), encoding="utf-8")
    wanted = Submission(JUDGE_JOB, "judge-rows", {"--asked": str(question)}, bench.version)
    home = Home.open(bench.folder("of-rows"))
    run, _ = submit(wanted, home, bench.observe, jvms=bench.jvms)
    if run.state != "SUCCEEDED":
        raise TidemarkError(f"the rows could not be compared: {run.error_message}")
    found: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))
    return found


def _rows(target: Target, answer: dict[str, Any], number: int) -> TargetRows:
    if answer.get("problem"):
        return TargetRows(target.uri, problem=answer["problem"])
    side = dict(answer["sides"][number])
    side["key"] = tuple(side.pop("key", ()))
    return TargetRows(target.uri, **side)
