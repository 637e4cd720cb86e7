"""Lists at 60, 80 and 120 columns: no name, path or run id is broken, and no line is too long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from tidemark.cli.catalog import catalog_table
from tidemark.cli.views.bookmarks import bookmark_tables, runs_table
from tidemark.cli.views.explain import common_folder, explanation_tables
from tidemark.cli.views.listing import Listing, Sentence, short_ids
from tidemark.cli.views.status import status_table
from tidemark.cli.views.watermarks import current_tables, history_table
from tidemark.local_state.bookmarks.explain import Explanation, OpenedSource
from tidemark.local_state.bookmarks.verdicts import FileVerdict, Reason
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.operate.job_runs import Run
from tidemark.operate.statuses import Status
from tidemark.operate.target import BookmarkHead, CommittedRun
from watermarks import HistoryEntry, OpenWindow

WIDTHS = [60, 80, 120]
LABEL = 24  # what stands before a path in a block
JOB = "curate-the-orders-of-every-country"
IDS = [f"jr_{digit * 64}" for digit in "4af"]
FOLDER = "s3://tidemark-dev-storage-landing/orders/of/every/country/"
BOUND = "updated_at=2013-01-15T04:00:00.016000+00:00"


def shown(parts: list[RenderableType], width: int) -> str:
    """Return what the commands print; it ends where the width of the terminal ends."""
    console = Console(width=width, record=True, file=StringIO())
    for part in parts:
        console.print(part, highlight=False, soft_wrap=True)
    return console.export_text()


def bookmarks() -> list[RenderableType]:
    versions = [CommittedRun(id_, 0, 2, "SUCCEEDED", 26_276_000) for id_ in IDS]
    state = '{"states": {"orders": {"kind": "s3", "high_ms": 0, "recent": [], "paths": ["%s"]}}}'
    counters = {"Version": 31, "Run": 2, "Attempt": 0, "RunId": IDS[0], "PreviousRunId": IDS[1]}
    entry = {"JobName": JOB, **counters, "JobBookmark": state % FOLDER}
    return [*bookmark_tables(entry, versions), runs_table(versions)]


def status() -> list[RenderableType]:
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    end = begin + timedelta(milliseconds=1_063_100)
    rows = {"rows_read": 26_276_000, "rows_written": 12_208_000}
    last = Run(IDS[0], JOB, "SUCCEEDED", begin, end, **rows)
    found = Status(JOB, last_run=last, has_bookmark=True, bookmark=BookmarkHead(31, 60_000))
    return [status_table([found], {JOB: BOUND}, 0, has_rows=True)]


def watermarks() -> list[RenderableType]:
    at = datetime(2013, 1, 15, 4, tzinfo=UTC)
    values = {"updated_at": at}
    entries = [
        HistoryEntry(
            version=7,
            kind="commit",
            run_id=id_,
            watermarks=values,
            committed_at=at,
            actor="somebody",
            reason="the rates of a week were wrong",
        )
        for id_ in IDS
    ]
    windows = [OpenWindow("0000000001", 1, id_, "updated_at", None, at, "()") for id_ in IDS]
    return [*current_tables(JOB, "orders", None, windows), history_table(JOB, entries)]


def explained() -> list[RenderableType]:
    source = {"kind": "s3", "transformation_ctx": "orders", "paths": [FOLDER]}
    why = "modified 2013-01-15 04:00:00.000Z; all up to 2013-01-15 04:00:00.000Z counts as read"
    files = tuple(
        FileVerdict(f"{FOLDER}2013/01/part-{n:05}-{'ab' * 4}.json", 0, 1, Reason.OLDER, why)
        for n in range(30)
    )
    opened = OpenedSource(source, "job-bookmark-enable", True, 0, None)
    return list(explanation_tables(JOB, None, [Explanation(opened, files)]))


def tables() -> list[RenderableType]:
    columns = [{"Name": f"column_{n}", "Type": "decimal(12,2)"} for n in range(9)]
    storage = {"Location": FOLDER, "Columns": columns}
    definition = {"StorageDescriptor": storage, "Parameters": {"classification": "parquet"}}
    return [catalog_table([CatalogTable("sales_eu", "orders_of_every_country", definition)])]


LISTS = {
    "bookmark show": (bookmarks, [FOLDER, *(id_[:11] for id_ in IDS), "transformation_ctx"]),
    "status": (status, [JOB, BOUND, "26,276,000"]),
    "watermark history": (watermarks, [*(id_[:11] for id_ in IDS), "2013-01-15"]),
    "explain": (explained, [FOLDER, "part-00000-abababab.json", "part-00019-abababab.json"]),
    "catalog list": (tables, [FOLDER, "sales_eu.orders_of_every_country", "column_8"]),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", LISTS)
def test_nothing_that_one_selects_is_broken_and_no_line_is_too_long(name, width):
    parts, tokens = LISTS[name]

    text = shown(parts(), width)

    assert [token for token in tokens if token not in text] == []
    too_long = [line for line in text.splitlines() if len(line) > width]
    assert all(max(map(len, line.split())) > width - LABEL for line in too_long), too_long


def test_explain_says_what_the_paths_have_in_common_once():
    text = shown(explained(), 80)

    assert text.count("s3://") == 2  # the source, and the folder below it
    assert f"files below {FOLDER}2013/01/" in text
    assert "2013/01/part" not in text


@pytest.mark.parametrize(
    ("paths", "folder"),
    [
        ([], ""),
        (["s3://b/a.json"], "s3://b/"),
        (["s3://b/in/a.json", "s3://b/inner/a.json"], "s3://b/"),
        (["s3://b/in/1/a.json", "s3://b/in/2/a.json"], "s3://b/in/"),
        (["s3://b/a.json", "s3://c/a.json"], ""),
    ],
)
def test_the_common_folder_ends_between_names(paths, folder):
    assert common_folder(paths) == folder


WORDS = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=30)
CELLS = st.lists(WORDS, max_size=6).map(" ".join)


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4),
    width=st.integers(20, 130),
)
def test_words_stay_whole_and_lines_short_whatever_the_cells(rows, width):
    text = shown([Listing(("Ä", "Ö", "Ü"), rows)], width)

    words = [word for row in rows for cell in row for word in cell.split()]
    assert sorted(word for word in text.split() if word not in "ÄÖÜ") == sorted(words)
    for line in text.splitlines():
        assert len(line) <= width or len(line.removeprefix("  Ö").removeprefix("  Ü").split()) == 1


@given(text=CELLS, width=st.integers(5, 130))
def test_a_sentence_folds_at_spaces(text, width):
    lines = shown([Sentence(text)], width).splitlines()

    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= width or " " not in line for line in lines)


def test_ids_are_shortened_as_far_as_they_stay_apart():
    near = ["jr_" + "a" * 20 + "1", "jr_" + "a" * 20 + "2", "jr_" + "b" * 64]

    assert short_ids(near) == {
        near[0]: near[0],
        near[1]: near[1],
        near[2]: "jr_bbbbbbbb",
    }
    assert short_ids(["by-hand", "jr_1"]) == {"by-hand": "by-hand", "jr_1": "jr_1"}


def test_a_retry_is_whole_for_its_first_attempt_begins_alike():
    retry = f"{IDS[0]}_attempt_1"

    assert short_ids([retry]) == {retry: retry}


def test_a_number_of_seconds_is_not_broken() -> None:
    listing = Listing(("job", "state"), [("load", "SUCCEEDED 58.7 s cold")])

    assert shown([listing], 20).splitlines()[1:] == ["load  SUCCEEDED", "      58.7 s cold"]


def test_the_rows_of_a_run_are_not_broken() -> None:
    listing = Listing(("job", "rows in → out", "why"), [("load", "1 → 2", "a b c")])

    assert shown([listing], 20).splitlines() == [
        "job   rows       why",
        "      in → out",
        "load  1 → 2      a b",
        "                 c",
    ]
