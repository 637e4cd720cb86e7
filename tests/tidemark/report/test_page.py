"""The page: everything of users is escaped, every picture has a table, nothing is loaded."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import pytest

from tests.tidemark.report.made_up import HOUR_MS, NASTY, NOW_MS, STATES, report, shop
from tidemark.operate.app_jobs import PipelineJob
from tidemark.report.commits import PipelineRun
from tidemark.report.content import content_of
from tidemark.report.model import Report
from tidemark.report.page import page_of

LOADS = {"script", "link", "img", "iframe", "object", "embed", "video", "audio", "base", "form"}
EMPTY = {"meta", "br", "path", "line", "rect", "polygon", "polyline", "ellipse", "text"}


class Reading(HTMLParser):
    """What a page says, and what it has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "xlink:href")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@cache
def page() -> str:
    return page_of(report())


@cache
def reading() -> Reading:
    return Reading(page())


def test_what_users_wrote_is_text_and_never_a_part_of_the_page() -> None:
    assert "script" not in reading().tags
    assert "<script" not in page()
    assert "".join(reading().texts).count("alert(") >= 6  # job, dataset, message, warning, window
    assert "{{7*7}}" in page()


def test_nothing_is_loaded() -> None:
    assert not LOADS & set(reading().tags)
    assert all(link.startswith("#") for link in reading().links)
    assert "default-src 'none'" in page()
    assert not re.search(r"url\(|@import", page())
    assert not [name for name, _ in reading().attributes if name.startswith("on")]


def test_every_link_leads_to_a_place_of_the_page_and_every_place_is_one() -> None:
    assert {link.removeprefix("#") for link in reading().links} <= set(reading().ids)
    assert len(reading().ids) == len(set(reading().ids))


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_a_word_in_the_graph_and_in_the_table(state: str) -> None:
    graph = page()[page().index('class="levels"') : page().index("Datasets of the jobs")]

    assert f" {state}</span>" in graph
    assert f" {state}</span>" in page()
    assert f'"{state} 01-30' in page()  # of a run in the grid, for those who cannot see it


def test_rows_that_only_a_checkpoint_tells_are_shown() -> None:
    assert "777 → 55" in page()


def test_pictures_are_named_and_have_a_table() -> None:
    charts = page().count('<svg class="chart"')

    assert charts > 0
    assert page().count('role="img" aria-label="Rows and seconds of') == charts
    assert page().count('aria-label="Table: Rows and seconds of') == charts


def test_costs_of_this_machine_are_marked_as_estimates() -> None:
    assert "≈" in page()
    assert "An estimate" in page()


def test_a_month_of_which_runs_may_be_left_out_costs_at_least_so_much() -> None:
    whole, cut = shop(5, 60), replace(shop(5, 60), limit=59)
    months = content_of(cut).months

    assert [(month.month, month.is_cut) for month in months] == [
        ("2026-01", False),
        ("2025-12", True),
    ]
    assert not any(month.is_cut for month in content_of(whole).months)
    assert ("≥" in page_of(cut), "≥" in page_of(whole)) == (True, False)
    assert [month.sign for month in months] == ["≈ ", "≥ "]


def test_a_run_that_failed_stays_on_the_page_after_a_newer_one_succeeded() -> None:
    stock = shop().jobs[1]
    failed = PipelineRun(stock.name, "jr_old", "FAILED", NOW_MS - HOUR_MS, NOW_MS, "no column x")
    newer = PipelineRun(stock.name, "jr_new", "SUCCEEDED", NOW_MS - 1, NOW_MS, is_read_again=True)
    text = page_of(Report("here", NOW_MS, (stock,), (failed, newer)))

    assert "no column x" in text
    assert "href=#r-jr_old" in text
    assert "nothing committed: the next run reads this again" in text
    assert content_of(Report("here", NOW_MS, (stock,), (failed, newer))).needs == ()


def test_all_is_well_only_where_no_published_data_is_old() -> None:
    stock = shop().jobs[1]
    runs = [run for run in shop().runs if run.job == stock.name]
    old, new = (
        page_of(Report("here", at_ms, (stock,), tuple(runs)))
        for at_ms in (NOW_MS + 5 * 24 * HOUR_MS, max(it.ended_at_ms or 0 for it in runs))
    )

    assert ("All is well" in new, "! late" in new) == (True, False)
    assert ("All is well" in old, "! late" in old) == (False, True)


def test_where_nothing_ran_the_page_says_so() -> None:
    nothing = Report("this machine", NOW_MS, (PipelineJob("one", reads=("s3://b/a/",)),))
    text = page_of(nothing)

    assert "No job has run yet" in text
    assert "○ never ran" in text


def test_names_that_are_no_unicode_are_written() -> None:
    odd = replace(report(), where="\udcff\x00\x1b[31m")

    page_of(odd).encode("utf-8", errors="backslashreplace")


def test_controls_and_turned_text_are_visible() -> None:
    page = page_of(replace(report(), where="a\x1b\u202e"))

    assert r"a\u001b\u202e" in page
    assert not {"\x1b", "\u202e"} & set(page)


def test_a_name_is_in_the_page_as_it_is() -> None:
    assert " ".join(NASTY.split()) in " ".join("".join(reading().texts).split())


@pytest.mark.nightly
def test_fifty_jobs_with_two_hundred_runs_each_are_less_than_a_megabyte() -> None:
    many = shop(50, 200)

    assert len(many.runs) > 9_900
    assert len(page_of(many).encode()) < 1_000_000


def test_of_a_thousand_jobs_some_are_drawn_and_all_are_told() -> None:
    many = shop(1000, 10)
    text = page_of(many)

    assert text.count('<svg class="chart"') == 50
    assert f'id="{content_of(many).anchors["ingest-orders"]}"' in text  # it failed
    assert all(f">{job.name}<" in text for job in many.jobs)
    assert len(text.encode()) < 1_800_000
