"""attachFilename and attachTimestamp: columns of the file that a row is from."""

from __future__ import annotations

from datetime import UTC

import pytest

from tidemark.errors import UsageError

pytestmark = pytest.mark.spark


@pytest.fixture
def read(glue_context, s3):
    def read(kind, options, **connection):
        return glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [s3.uri], **connection}, kind, options
        )

    return read


@pytest.mark.rule(
    "Formats", source="INFER", choice="a string and a timestamp, after the other columns"
)
@pytest.mark.parametrize(
    ("kind", "text", "options"),
    [
        ("csv", "id\n{}\n", {"withHeader": True}),
        ("json", '{{"id": "{}"}}\n', {}),
        ("xml", "<r><e><id>{}</id></e></r>", {"rowTag": "e"}),
    ],
)
def test_rows_get_the_file_and_its_time(read, s3, kind, text, options):
    made = [s3.put(f"day=1/a +{name}.{kind}", text.format(name)) for name in "xy"]

    frame = read(
        kind,
        {**options, "attachFilename": "file", "attachTimestamp": "at"},
        groupFiles="inPartition",
    ).toDF()

    assert frame.columns == ["id", "day", "file", "at"]
    times = {row.file: row.at.astimezone(UTC).timestamp() for row in frame.collect()}
    # st_mtime is a float: 299.9999 ms of a file would be 300 ms there.
    assert times == {
        f"{s3.uri}day=1/{file.name}": file.stat().st_mtime_ns // 1_000_000 / 1000 for file in made
    }


def test_a_name_that_is_taken_or_is_none_is_refused(read, s3):
    s3.put("a.json", '{"id": 1}')

    assert read("json", {"attachFilename": "é f"}).toDF().columns == ["id", "é f"]
    with pytest.raises(UsageError, match=r"attachFilename'\] is 'ID'; .* they have id"):
        read("json", {"attachFilename": "ID"})
    with pytest.raises(UsageError, match=r"attachTimestamp'\] is True"):
        read("json", {"attachTimestamp": True})
