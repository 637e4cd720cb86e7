"""The geometry of the charts: bars within a timeline, lines within a picture."""

from __future__ import annotations

import re

import pytest

from tidemark.report.charts import HEIGHT, MIN_BAR, SPACE, SPAN, WIDTH, lines_of, timeline
from tidemark.report.commits import PipelineRun
from tidemark.report.series import Point, points_of

NUMBER = re.compile(r"-?[0-9.]+")


def run(start: int, seconds: float = 1, job: str = "a", state: str = "SUCCEEDED") -> PipelineRun:
    end = None if state == "RUNNING" else start + round(seconds * 1000)
    return PipelineRun(job, f"jr_{start}", state, start, end)


def test_bars_are_as_long_as_runs_and_within_the_timeline() -> None:
    bars = timeline([run(0, 10), run(10_000, 30, "b"), run(39_999, 0.001)], 99)

    assert [(bar.x, bar.width) for bar in bars["a"]] == [(0, 250), (SPAN - MIN_BAR, MIN_BAR)]
    assert [(bar.x, bar.width) for bar in bars["b"]] == [(250, 750)]


def test_a_run_that_goes_on_ends_now() -> None:
    bars = timeline([run(0, 10), run(10_000, job="b", state="RUNNING")], 20_000)

    assert (bars["b"][0].x, bars["b"][0].width) == (500, 500)


def test_one_run_of_no_time_has_a_bar() -> None:
    (bar,) = timeline([run(5, 0)], 5)["a"]

    assert 0 <= bar.x <= SPAN - bar.width


@pytest.mark.parametrize("rows", [0, 1, 999, 3_500_000])
@pytest.mark.parametrize("count", [1, 2, 48])
def test_lines_are_within_the_picture(rows: int, count: int) -> None:
    points = points_of(
        [PipelineRun("a", f"jr_{n}", "FAILED", n, n + rows, "", rows, rows) for n in range(count)]
    )
    drawn = lines_of(points)
    paths = (drawn.read, drawn.written, drawn.seconds.replace("h4", ""))
    numbers = [float(text) for path in paths for text in NUMBER.findall(path)]

    assert len(drawn.failed) == count
    assert all(0 <= x <= WIDTH for x, _ in drawn.failed)
    assert all(HEIGHT + SPACE <= y <= drawn.height for _, y in drawn.failed)
    assert min(numbers) >= 0
    assert max(numbers) <= WIDTH
    assert drawn.most_rows == rows


def test_what_is_not_known_has_no_line() -> None:
    drawn = lines_of([Point(0, 1, 0, None, None, None)])

    assert (drawn.read, drawn.written, drawn.seconds) == ("", "", "")
    assert (drawn.most_rows, drawn.most_seconds) == (None, None)
