"""The page of a report: its content, as one HTML document that loads nothing."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tidemark.model.messages import visible
from tidemark.report import charts
from tidemark.report.content import Content, content_of
from tidemark.report.dot import graph_of, jobs_of_picture
from tidemark.report.model import Report
from tidemark.report.words import age, amount, kind_of, moment, took, usd, with_sign

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FOLDER = Path(__file__).parent
PX_PER_PT = 4 / 3
GRAPH, GANTT, COSTS = "graph", "gantt", "costs"
Draw: TypeAlias = Callable[[Mapping[str, str], Mapping[str, Mapping[str, Any]]], Mapping[str, str]]


@dataclass(frozen=True)
class Pictures:
    """What is to be drawn of a report: graphs and charts by name."""

    graphs: Mapping[str, str]
    charts: Mapping[str, Mapping[str, Any]]


def page_of(report: Report, draw: Draw) -> str:
    """Return the page."""
    content = content_of(report)
    pictures = pictures_of(report, content)
    return render(report, content, draw(pictures.graphs, pictures.charts))


def pictures_of(report: Report, content: Content) -> Pictures:
    """Return the charts to draw; charts of runs only if something ran."""
    now_ms = report.made_at_ms
    holders = {dataset.held_back_by for dataset in content.fresh if dataset.is_late}
    shown = jobs_of_picture(content.jobs, content.last, holders)
    fresh = [dataset.freshness for dataset in content.fresh]
    drawn: dict[str, Mapping[str, Any]] = {}
    if content.period:
        drawn[GANTT] = charts.gantt(content.period, now_ms)
    for card in content.cards:
        if card.points:
            drawn[card.anchor] = charts.over_runs(card.points)
    if content.months:
        drawn[COSTS] = charts.costs_chart(content.months[0].costs)
    return Pictures({GRAPH: graph_of(shown, content.last, fresh, content.anchors, now_ms)}, drawn)


def render(report: Report, content: Content, pictures: Mapping[str, str]) -> str:
    """Return the page with its pictures; everything else in it is escaped."""
    return (
        environment()
        .get_template("page.html.jinja")
        .render(
            report=report,
            content=content,
            width=width_px(pictures[GRAPH]),
            pictures=in_page(pictures),
            style=style(),
            version=_version(),
        )
    )


def in_page(pictures: Mapping[str, str]) -> dict[str, "Markup"]:
    """Return pictures as the markup that they are, with the names of others made visible."""
    from markupsafe import Markup

    return {name: Markup(visible(svg)) for name, svg in pictures.items()}  # noqa: S704 (drawn here)


def environment() -> "Environment":
    """Return what fills in the templates of pages; it escapes everything."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader([FOLDER, FOLDER / "live"]),
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,  # not of Markup
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "age": age,
        "amount": amount,
        "kind": kind_of,
        "moment": moment,
        "sign": with_sign,
        "took": took,
        "usd": usd,
    }
    return made


def style() -> "Markup":
    """Return the style sheet of all pages."""
    from markupsafe import Markup

    return Markup((FOLDER / "page.css").read_text(encoding="utf-8"))  # noqa: S704 (ours)


def width_px(svg: str) -> int:
    """Return the width of a picture of Graphviz, in points; 0 if it is missing."""
    match = re.search(r'<svg width="([0-9.]+)pt"', svg)
    return round(float(match[1]) * PX_PER_PT) if match else 0


def _version() -> str:
    try:
        return version("tidemark-glue")
    except PackageNotFoundError:
        return ""
