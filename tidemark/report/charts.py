"""The charts of a report in the language of Vega-Lite; pure. Colours are variables of the page.

Source: https://vega.github.io/vega-lite/docs/
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tidemark.report.commits import PipelineRun
from tidemark.report.costs import Cost
from tidemark.report.series import Point
from tidemark.report.words import ACTIVE, BAD, NONE, OK, SIGNS, STOPPED, kind_of

Chart: TypeAlias = Mapping[str, Any]
COLOURS = {kind: f"var(--{kind})" for kind in (OK, BAD, STOPPED, ACTIVE, NONE)}
AXIS: Mapping[str, Any] = {
    "domain": False,
    "ticks": False,
    "gridColor": "var(--line)",
    "labelColor": "var(--muted)",
    "labelFontSize": 11,
    "labelPadding": 6,
    "title": None,
}
CONFIG: Mapping[str, Any] = {
    "aria": False,
    "axis": AXIS,
    "background": None,
    "font": "var(--font)",
    "mark": {"aria": False},
    "view": {"stroke": None},
}
GANTT_WIDTH, BAR = 780, 16
SMALL_WIDTH, SMALL_HEIGHT = 250, 46
COST_WIDTH, MAX_COSTS = 420, 12
MIN_SHARE = 0.004  # of the width, for a bar: a run of a second is seen among hours
MAX_LABEL_LENGTH = 200


def gantt(runs: Sequence[PipelineRun], now_ms: int) -> Chart:
    """Return when runs worked, a line per job, in the order of their first starts."""
    ends = [
        run.ended_at_ms or (now_ms if kind_of(run.state) == ACTIVE else run.started_at_ms)
        for run in runs
    ]
    begin_ms, end_ms = runs[0].started_at_ms, max(ends)
    least_ms = max((end_ms - begin_ms) * MIN_SHARE, 1)
    values = [
        {
            "job": run.job,
            "begin": run.started_at_ms,
            "end": max(end, run.started_at_ms + least_ms),
            "kind": kind_of(run.state),
            "sign": SIGNS[kind_of(run.state)],
        }
        for run, end in zip(runs, ends, strict=True)
    ]
    return {
        "config": CONFIG,
        "width": GANTT_WIDTH,
        "height": {"step": BAR + 10},
        "data": {"values": values},
        "encoding": {
            "y": _names(list(dict.fromkeys(run.job for run in runs))),
            "color": {
                "field": "kind",
                "type": "nominal",
                "scale": {"domain": list(COLOURS), "range": list(COLOURS.values())},
                "legend": None,
            },
        },
        "layer": [
            {
                "mark": {"type": "bar", "height": BAR, "cornerRadius": 3},
                "encoding": {"x": _moment("begin", end_ms - begin_ms), "x2": {"field": "end"}},
            },
            {  # a colour alone means nothing to some people
                "transform": [{"filter": f"datum.kind != '{OK}'"}],
                "mark": {"type": "text", "align": "left", "dx": 4, "fontSize": 12},
                "encoding": {
                    "x": _moment("end", end_ms - begin_ms),
                    "text": {"field": "sign", "type": "nominal"},
                },
            },
        ],
    }


def _names(jobs: Sequence[str]) -> Chart:
    axis = {"labelLimit": MAX_LABEL_LENGTH, "labelColor": "var(--ink)"}
    return {"field": "job", "type": "nominal", "sort": jobs, "axis": axis}


def _moment(field: str, span_ms: int) -> Chart:
    return {
        "field": field,
        "type": "temporal",
        "scale": {"type": "utc", "nice": False},
        "axis": {"tickCount": 6, "grid": True, "format": _times(span_ms)},
    }


def _times(span_ms: int) -> str:
    """Return how times of a span are written; in the language of d3-time-format."""
    if span_ms < 5 * 60_000:
        return "%H:%M:%S"
    return "%H:%M" if span_ms < 86_400_000 else "%m-%d %H:%M"


def over_runs(points: Sequence[Point]) -> Chart:
    """Return rows and seconds of the runs of a job: two small charts, one above the other."""
    values = [
        {
            "n": number,
            "seconds": _short(point.seconds),
            "read": _short(point.rows_read),
            "written": _short(point.rows_written),
            "failed": point.failed,
        }
        for number, point in enumerate(points)
    ]
    charts = [_seconds(len(points))]
    if any(point.rows_read is not None or point.rows_written is not None for point in points):
        charts.insert(0, _rows(len(points)))
    return {"config": CONFIG, "data": {"values": values}, "vconcat": charts, "spacing": 14}


def _rows(count: int) -> Chart:
    line = {"type": "line", "strokeWidth": 1.6, "color": "var(--active)", "point": count == 1}
    return {
        "width": SMALL_WIDTH,
        "height": SMALL_HEIGHT,
        "layer": [
            {
                "mark": {"type": "area", "color": "var(--active)", "opacity": 0.16},
                "encoding": {"x": _number(count), "y": _amount("read", least_step=1)},
            },
            {
                "mark": line,
                "encoding": {"x": _number(count), "y": _amount("written", least_step=1)},
            },
        ],
    }


def _seconds(count: int) -> Chart:
    line = {"type": "line", "strokeWidth": 1.6, "color": "var(--ink-soft)", "point": count == 1}
    return {
        "width": SMALL_WIDTH,
        "height": SMALL_HEIGHT,
        "layer": [
            {"mark": line, "encoding": {"x": _number(count), "y": _amount("seconds")}},
            {
                "transform": [{"filter": "datum.failed > 0"}],
                "mark": {"type": "point", "filled": True, "size": 28, "color": "var(--bad)"},
                "encoding": {"x": _number(count), "y": _amount("seconds")},
            },
        ],
    }


def _number(count: int) -> Chart:
    scale = {"domain": [0, max(count - 1, 1)], "nice": False}
    return {"field": "n", "type": "quantitative", "axis": None, "scale": scale}


def _amount(field: str, least_step: int | None = None) -> Chart:
    # Each label by itself: an axis writes all with one unit, so 0 is 0k. Below 1 no unit: 0.5 is
    # 500m in that language, which people read as millions.
    text = "abs(datum.value) < 1 ? format(datum.value, '.6~f') : format(datum.value, '~s')"
    axis: dict[str, Any] = {"tickCount": 2, "labelExpr": text, "minExtent": 34, "maxExtent": 34}
    if least_step is not None:
        axis["tickMinStep"] = least_step
    return {"field": field, "type": "quantitative", "axis": axis}


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def costs_chart(costs: Sequence[Cost]) -> Chart:
    """Return the USD of the jobs that cost most in one month."""
    most = costs[:MAX_COSTS]
    return {
        "config": CONFIG,
        "width": COST_WIDTH,
        "height": {"step": BAR + 10},
        "data": {"values": [{"job": cost.job, "usd": round(cost.usd, 4)} for cost in most]},
        "mark": {"type": "bar", "height": BAR, "color": "var(--active)"},
        "encoding": {
            "x": {
                "field": "usd",
                "type": "quantitative",
                "axis": {
                    "tickCount": 4,
                    "labelExpr": "format(datum.value, ',.6~f')",  # no two with the same label
                    "grid": True,
                },
            },
            "y": _names([cost.job for cost in most]),
        },
    }
