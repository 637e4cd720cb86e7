"""Two commits side by side: which rows are compared, and when a comparison fails."""

import subprocess
import sys

import pytest

from benchmarks import compare
from benchmarks.compare import ratios, rows_of
from benchmarks.measure import PROJECT, Result


def test_a_ratio_is_of_the_rows_of_one_round():
    old = [{"a": 2.0, "b": 1.0}, {"a": 4.0, "b": 1.0}, {"a": 1.0, "b": 1.0}]
    new = [{"a": 3.0, "b": 1.0}, {"a": 4.0, "b": 2.0}, {"a": 2.0, "b": 4.0}]

    first, second = ratios("v1", old, new)

    assert (first.name, first.seconds) == ("a", [1.5, 1.0, 2.0])
    assert first.row().startswith("| a | 1.50 | 1.00-2.00 |")
    assert (second.name, second.seconds) == ("b", [1.0, 2.0, 4.0])


def test_rows_of_one_side_tiny_rows_and_speeds_are_not_compared():
    old = [{"only old": 1.0, "tiny": 0.05, "x, how many times faster": 2.0, "sometimes": 1.0}, {}]
    new = [{"only new": 1.0, "tiny": 5.0, "x, how many times faster": 1.0, "sometimes": 1.0}, {}]

    assert ratios("v1", old, new) == []
    assert [row.name for row in ratios("v1", old[:1], new[:1])] == ["sometimes"]


def test_rows_are_those_that_a_benchmark_prints():
    printed = Result("one job, warm", "python -m x", [1.0, 2.0, 4.0], "target 2 s").row()

    assert rows_of(f"some words\n{printed}\n") == {"one job, warm": 2.0}


@pytest.mark.parametrize(("now", "code"), [(1.24, 0), (1.25, 1)])
def test_it_fails_from_that_many_times_on(now, code, tmp_path, monkeypatch, capsys):
    seconds = {PROJECT: now, tmp_path: 1.0}
    monkeypatch.setattr(compare, "tree_of", lambda _: tmp_path)
    monkeypatch.setattr(compare, "measured", lambda tree, name: {name: seconds[tree]})

    assert compare.main(["v0.1.0", "synth"]) == code

    printed = capsys.readouterr()
    assert f"| synth | {now:.2f} | {now:.2f}-{now:.2f} |" in printed.out
    assert ("or more: synth" in printed.err) == bool(code)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["no-such-ref"], "REF is 'no-such-ref', which this repository does not have"),
        (["HEAD", "nothing"], "benchmarks are nothing; allowed: awsglue, "),
        ([], "the following arguments are required: ref"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_set_up(words, reason):
    command = [sys.executable, "-m", "benchmarks.compare", *words]
    run = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)

    assert run.returncode != 0
    assert reason in run.stderr
