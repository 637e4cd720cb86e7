"""A list of files that are done has one more when a file is delivered a second time."""

from __future__ import annotations

import pytest

from tidemark.operate.prove.archives import names_files
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
