"""A list of files that are done has one more when a file is delivered a second time."""

from __future__ import annotations

import pytest

from tidemark.local_state.home import Home
from tidemark.local_state.operations import Operation
from tidemark.operate.prove.archives import is_of_markers, names_files
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.judged import TargetRows

FILES = r'{"line":"[\"in/a.json\", \"in/b.json\"%s]"}'


@pytest.mark.parametrize(
    ("lost", "added", "expected"),
    [
        ([FILES % ""], [FILES % r", \"in/b_again.json\""], True),
        ([], ['{"name":"in/b_again.json","state":"done"}'], True),
        ([], ['{"id":4}'], False),
        ([], ['{"name":"in/b_again.json","id":1}', '{"name":"in/b_again.json","id":2}'], False),
        (
            ['{"files":["b.json"],"total":10}'],
            ['{"files":["b.json","b_again.json"],"total":20}'],
            False,
        ),
        (
            ['{"files":["b.json"],"total":10}'],
            ['{"files":["b.json","b_again.json"],"total":10}'],
            True,
        ),
    ],
)
def test_a_row_that_names_one_more_file_is_a_note_of_it(lost, added, expected):
    rows = TargetRows(
        "s3://lake/done/",
        lost=len(lost),
        added=len(added),
        same_key=len(lost),
        examples={"lost": lost, "added": added},
    )

    assert names_files(rows, "_again") is expected


@pytest.mark.parametrize(
    ("contents", "expected"), [(["1", "1"], True), (["1"], False), (["1", "2"], False)]
)
def test_objects_of_the_same_bytes_are_markers_and_no_rows(tmp_path, contents, expected):
    home = Home.open(tmp_path / "home")
    puts = []
    for number, content in enumerate(contents, 1):
        uri = f"s3://lake/done/{number}"
        home.local_path(uri).parent.mkdir(parents=True, exist_ok=True)
        home.local_path(uri).write_text(content, encoding="utf-8")
        puts.append(Operation(number, "jr_1", "put", (uri,)))
    run = Baseline(home, Outcome(Experiment("again", "again"), home, [], 0.0), puts, [], {}, [])

    assert is_of_markers(run, "s3://lake/done/") is expected
