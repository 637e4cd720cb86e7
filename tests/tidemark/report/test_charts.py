"""The axes of the charts: no sign for a thousandth, and no two labels with one text."""

from __future__ import annotations

import re

import pytest

from tidemark.report.charts import costs_chart, over_runs
from tidemark.report.commits import PipelineRun
from tidemark.report.costs import Cost
from tidemark.report.drawing import draw
from tidemark.report.series import points_of

LABELS = re.compile(r"<g class=\"mark-text role-axis-label\"[^>]*>(.*?)</g>", re.DOTALL)
TEXT = re.compile(r"<text[^>]*>([^<]*)</text>")
AMOUNTS = (0, 1, 2, 3, 7, 12, 999, 1000, 1500, 12_345, 1_000_000, 3_500_000, 10**9)
SECONDS = (0.04, 0.3, 0.9, 1.2, 7.0, 80.0, 4000.0)
PRICES = (0.0001, 0.0005, 0.004, 0.03, 0.05, 0.11, 0.12, 0.9, 1.3, 12.0, 345.0, 12_000.0, 4e6)


@pytest.fixture(scope="module")
def pictures() -> dict[str, str]:
    charts = {}
    for rows in AMOUNTS:
        for seconds in SECONDS:
            run = PipelineRun("a", "jr_1", "SUCCEEDED", 0, int(seconds * 1000), "", rows, rows)
            charts[f"rows {rows} {seconds}"] = over_runs(points_of([run, run]))
    for price in PRICES:
        cost = Cost("2026-01", "a", 1, 1.0, price, is_estimate=False)
        charts[f"price {price}"] = costs_chart([cost])
    return draw({}, charts)


def axes(picture: str) -> list[list[str]]:
    return [TEXT.findall(group) for group in LABELS.findall(picture)]


def test_no_axis_has_two_labels_of_one_text(pictures: dict[str, str]) -> None:
    found = [(name, axis) for name, picture in pictures.items() for axis in axes(picture)]

    assert len(found) > len(pictures)
    assert [(name, axis) for name, axis in found if len(set(axis)) != len(axis)] == []


def test_no_label_is_written_in_thousandths(pictures: dict[str, str]) -> None:
    texts = {text for picture in pictures.values() for axis in axes(picture) for text in axis}

    assert not {text for text in texts if text[-1:] in ("m", "µ", "n")}
    assert {"0", "0.02", "1k", "1M"} <= texts


def test_rows_are_counted_in_whole_numbers(pictures: dict[str, str]) -> None:
    assert axes(pictures["rows 1 7.0"])[0] == ["0", "1"]
