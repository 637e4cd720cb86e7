"""The page of a report, one HTML document that loads nothing; and the parts of live pages."""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.model.messages import RETRY, visible
from tidemark.report.charts import lines_of, timeline
from tidemark.report.content import Content, content_of
from tidemark.report.model import Report
from tidemark.report.words import (
    SIGNS,
    age,
    amount,
    iso,
    kind_of,
    moment,
    short,
    took,
    usd,
    with_sign,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from tidemark.operate.diff.outcomes import Diff

FOLDER = Path(__file__).parent
SECTIONS = ("Attention", "Jobs", "Freshness", "Graph", "Runs", "Trends", "Cost")
BEGINNING = len("jr_") + 10  # of an id in a link of the grid: each has many


def page_of(report: Report) -> str:
    """Return the page of a report."""
    content = content_of(report)
    parts = [part_of(name, report, content) for name in ("overview", "runs")]
    return shell(
        "Overview",
        "".join(parts),
        where=report.where,
        links=[(name, f"#{name.lower()}") for name in SECTIONS],
        made_at_ms=report.made_at_ms,
        version=_version(),
    )


def part_of(name: str, report: Report, content: Content, live: object = None) -> str:
    """Return a part of a page, ``overview`` or ``runs``; with buttons and links if it is live."""
    return render(
        f"{name}.html.jinja",
        report=report,
        content=content,
        live=live,
        now_ms=report.made_at_ms,
        linked={run.run_id for run in content.recent},
    )


def render(template: str, **values: Any) -> str:
    """Return a filled template; all values but markup are escaped."""
    return environment().get_template(template).render(**values)


def shell(
    title: str,
    body: str,
    where: str,
    links: Collection[tuple[str, str]],
    live: Mapping[str, str] | None = None,
    made_at_ms: int | None = None,
    version: str = "",
) -> str:
    """Return a whole page around a body that a template has made."""
    from markupsafe import Markup

    return render(
        "page.html.jinja",
        title=title,
        body=Markup(body),  # noqa: S704 (made by a template)
        where=where,
        links=links,
        live=live,
        made_at_ms=made_at_ms,
        version=version,
        style=style(),
    )


@cache
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
        "anchor": _anchor,
        "beginning": _beginning,
        "iso": iso,
        "marked": _marked,
        "short": short,
        "strings": _strings,
        "amount": amount,
        "kind": kind_of,
        "moment": moment,
        "sign": with_sign,
        "took": took,
        "usd": usd,
    }
    made.globals |= {"lines_of": lines_of, "timeline": timeline, "signs": SIGNS}
    return made


def _strings(values: Iterable[object]) -> list[str]:
    words = {"True": "yes", "False": "no"}
    return [words.get(str(value), str(value)) for value in values]


def _anchor(run_id: str) -> str:
    return f"r-{re.sub(r'[^A-Za-z0-9_-]', '_', run_id)}"


def _marked(text: str) -> "Markup":
    """Return a text whose parts between backticks are code."""
    from markupsafe import Markup, escape

    parts = visible(text).split("`")
    return Markup().join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(parts)
    )


def _beginning(run_id: str) -> str:
    return run_id if RETRY in run_id else run_id[:BEGINNING]


def style() -> "Markup":
    """Return the style sheet of all pages."""
    from markupsafe import Markup

    return Markup((FOLDER / "page.css").read_text(encoding="utf-8"))  # noqa: S704 (ours)


def _version() -> str:
    try:
        return version("tidemark-glue")
    except PackageNotFoundError:
        return ""


def diff_page(diff: "Diff") -> str:
    """Return the page of a difference; all values of rows are escaped."""
    return environment().get_template("diff.html.jinja").render(diff=diff, style=style())
