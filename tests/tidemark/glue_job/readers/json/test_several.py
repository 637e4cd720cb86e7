"""Several JSON values on a line: each is a row, or the line is an error record."""

from __future__ import annotations

import bz2
import gzip
import json
import re
from collections import Counter
from json import JSONDecodeError, JSONDecoder
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from awsglue import gluetypes
from tests.sampled import at_night
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings

pytestmark = pytest.mark.spark

FIREHOSE = '{"id":1}{"id":2} {"id":3}\n{"id":4}\n[{"id":5}][{"id":6},{"id":7}]{"id":8}\n'
IDS = list(range(1, 9))
COLUMNS = [{"Name": "id", "Type": "bigint"}]
SCHEMA = {
    "dataType": "struct",
    "fields": [{"name": "id", "container": {"dataType": "long"}}],
}
# Without shrinking: each example is a run of Spark.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
MANY = "tidemark.glue_job.readers.json.lines.MANY"


def ids_of(frame):
    return sorted(row[0] for row in frame.select("id").collect())


@pytest.fixture
def from_options(glue_context, s3):
    def from_options(**options):
        found = glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [s3.uri], "recurse": True}, "json", options
        )
        return found.toDF()

    return from_options


@pytest.mark.rule("Bad input", source="INFER", choice="each of several objects on a line is a row")
@pytest.mark.parametrize("many", [1, pytest.param(200, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_every_value_of_a_line_is_a_row(
    glue_context, from_options, define, s3, monkeypatch, many, name
):
    monkeypatch.setattr(MANY, many)
    path = s3.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(FIREHOSE.encode()) if name.endswith("gz") else FIREHOSE.encode())
    define(COLUMNS)
    table = ("lake", s3.folder.name)

    found = {
        "options": from_options(),
        "multiLine": from_options(multiLine=True),
        "jsonPath": from_options(jsonPath="$"),
        "schema": from_options(withSchema=json.dumps(SCHEMA)),
        "schema, multiLine": from_options(withSchema=json.dumps(SCHEMA), multiLine=True),
        "table": glue_context.create_dynamic_frame.from_catalog(*table).toDF(),
    }

    assert {key: ids_of(frame) for key, frame in found.items()} == dict.fromkeys(found, IDS)


def test_columns_of_later_values_are_columns_and_folders_win(from_options, s3):
    s3.put("day=1/a.json", '{"id":1}{"id":2,"late":{"x":1}}{"day":9}\n')

    rows = from_options().select("id", "late.x", "day").collect()

    assert sorted(map(tuple, rows), key=str) == [(1, None, 1), (2, 1, 1), (None, None, 1)]


@pytest.mark.rule("Bad input", source="INFER", choice="an error record, as without a schema")
@pytest.mark.parametrize("multi_line", [False, True])
@pytest.mark.parametrize(
    "junk",
    [
        "x",
        "[1]",
        *at_night("5", '"s"', "null", "true", "}", "]", ",", '{"id":', "\ufeff", "\0"),
    ],
)
def test_a_line_that_is_not_a_record_is_an_error_record_with_a_schema_too(
    glue_context, s3, junk, multi_line
):
    s3.put("a.json", f'{{"id":1}} {junk}\n{{"id":2}}\n')
    s3.put("b.json", '{"id":3}\n')
    options = {"withSchema": json.dumps(SCHEMA), "multiLine": multi_line}

    frame = glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [s3.uri]}, "json", options
    )

    assert ids_of(frame.toDF()) == ([3] if multi_line else [2, 3])
    assert frame.errorsCount() == 1


@pytest.mark.parametrize("reader", ["create_dynamic_frame", "create_data_frame"])
@pytest.mark.parametrize("multi_line", [False, True])
def test_records_below_a_path_have_the_given_schema_too(glue_context, s3, reader, multi_line):
    s3.put("a.json", '{"in": {"rows": [{"id": 1, "more": 1}, {"id": 3000000000}]}}\n')
    schema = gluetypes.StructType([gluetypes.Field("id", gluetypes.LongType())])
    options = {
        "jsonPath": "$.in.rows",
        "withSchema": json.dumps(schema.jsonValue()),
        "multiLine": multi_line,
    }

    frame = getattr(glue_context, reader).from_options("s3", {"paths": [s3.uri]}, "json", options)

    data = frame.toDF() if reader == "create_dynamic_frame" else frame
    assert data.schema.simpleString() == "struct<id:bigint>"
    assert [row.id for row in data.collect()] == [1, 3000000000]


@pytest.mark.parametrize("options", [{}, {"withSchema": json.dumps(SCHEMA)}])
def test_files_without_any_record_fail_with_their_name(from_options, s3, options):
    s3.put("a.json", "junk\n")

    with pytest.raises(Exception, match=r"cannot read .*a\.json as json"):
        from_options(**options).collect()


def test_nulls_among_the_records_of_an_array_are_no_rows(from_options, s3):
    s3.put("a.json", '{"id":1}{"id":2}\n[null,{"id":3},null]\n')

    assert ids_of(from_options(withSchema=json.dumps(SCHEMA))) == [1, 2, 3]


def values_in(text: str) -> list[dict[str, Any]] | None:
    """Return the records of a text by Python's own decoder, None if one is no object."""
    found, place, decoder = [], 0, JSONDecoder()
    text = text.removeprefix("\ufeff").strip(" \t\r\n")
    while place < len(text):
        try:
            value, place = decoder.raw_decode(text, place)
        except JSONDecodeError:
            return None
        records = [one for one in value if one is not None] if isinstance(value, list) else [value]
        if not all(isinstance(one, dict) for one in records):
            return None
        found += records
        place += len(text[place:]) - len(text[place:].lstrip(" \t\r\n"))
    return found


def accounted(text: str, *, by_lines: bool) -> tuple[list[Any], list[str]]:
    """Return the ids of the rows and the error records that a file is to give."""
    split = re.split(r"\r\n|\n", text.removeprefix("\ufeff"))
    lines = [line for line in split if line.strip(" \ufeff")] if by_lines else []
    each = [values_in(line) for line in lines]
    whole = values_in(text)
    if whole is not None:
        return [one.get("id") for one in whole], []
    if all(one is None for one in each):
        return [], [text]
    rows = [one.get("id") for some in each if some is not None for one in some]
    return rows, [line for line, one in zip(lines, each, strict=True) if one is None]


OBJECTS = st.one_of(
    st.just("{}"),
    st.builds(
        lambda number, text: json.dumps({"id": number, "text": text}),
        st.integers(0, 2**31 - 1),
        st.sampled_from(["", "}{", '"', "\\", "[", "é", "\u2028"]),
    ),
)
ARRAYS = st.lists(OBJECTS | st.just("null"), max_size=3).map(lambda each: f"[{', '.join(each)}]")
JUNK = st.sampled_from(["x", "5", '"s"', "null", "}", "]", ",", '{"id":', "[1]", "\ufeff"])
GOOD = st.lists(st.tuples(OBJECTS | ARRAYS, st.sampled_from(["", " ", "\t"])), max_size=4).map(
    lambda each: "".join(one + space for one, space in each)
)
BAD = st.builds(lambda before, junk, after: before + junk + after, GOOD, JUNK, GOOD)
FILES = st.builds(
    lambda lines, end, is_ended: end.join(lines) + end * is_ended,
    st.lists(st.one_of(GOOD, GOOD, BAD), min_size=1, max_size=5),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)


@pytest.mark.nightly
@settings(max_examples=4, deadline=None, phases=PHASES, suppress_health_check=list(HealthCheck))
@given(
    texts=st.lists(FILES, min_size=20, max_size=40),
    many=st.sampled_from([1, 200]),
    by_lines=st.booleans(),
    schema=st.sampled_from([{}, {"withSchema": json.dumps(SCHEMA)}]),
)
@example(texts=['"s"\r\n\ufeff\r\n5\n', "{}\n\ufeff\n5\n"], many=200, by_lines=True, schema={})
def test_rows_and_error_records_account_for_all_values(
    glue_context, s3, texts, many, by_lines, schema
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MANY, many)
        account_for(glue_context, s3, texts, by_lines, schema)


@pytest.mark.nightly
@settings(max_examples=60, deadline=None, phases=PHASES, suppress_health_check=list(HealthCheck))
@given(
    texts=st.lists(FILES, min_size=20, max_size=60),
    many=st.sampled_from([1, 200]),
    by_lines=st.booleans(),
    schema=st.sampled_from([{}, {"withSchema": json.dumps(SCHEMA)}]),
)
def test_rows_and_error_records_account_for_all_values_of_more(
    glue_context, s3, texts, many, by_lines, schema
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MANY, many)
        account_for(glue_context, s3, texts, by_lines, schema)


def account_for(glue_context, s3, texts, by_lines, schema):
    for old in s3.folder.glob("*"):
        old.unlink()
    texts = ['{"id": 0, "text": ""}{"id": 0}\n', *texts]  # files without any record fail
    s3.folder.mkdir(parents=True, exist_ok=True)
    for place, text in enumerate(texts):
        is_packed = place % 3 == 2
        raw = text.encode()
        name = f"{place}.json" + ".gz" * is_packed
        (s3.folder / name).write_bytes(gzip.compress(raw) if is_packed else raw)
    wanted = [accounted(text, by_lines=by_lines) for text in texts]

    options = schema if by_lines else {"multiLine": True, **schema}
    frame = glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [s3.uri]}, "json", options
    )

    errors = frame.errorsAsDynamicFrame().toDF()
    inputs = [row.input for row in errors.select("error.input").collect()] if errors.columns else []
    rows = [row[0] for row in frame.toDF().select("id").collect()]
    assert Counter(rows) == Counter(one for ids, _ in wanted for one in ids)
    assert Counter(inputs) == Counter(one for _, bad in wanted for one in bad)


@pytest.fixture
def warned(tmp_path, monkeypatch):
    """Return a reader of the warnings of this run."""
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    return lambda: read_warnings(tmp_path)


@pytest.mark.rule(
    "Bad input", source="INFER", choice="the first value, as in Spark's reader; a warning"
)
@pytest.mark.parametrize("many", [1, *at_night(200)])
@pytest.mark.parametrize(
    ("text", "multi_line", "ids"),
    [
        ('{"id":1}\n{"id":2} {"late":3}\n[{"id":4}][{"id":5}]\n', False, [1, 2, 4]),
        ('{"id":1}\n{"id":2} x\n', False, [1, 2]),
        ('{"id":1}\n{}{"id":2}\n', False, [None, 1]),
        ('{"id":1}\n{"id":2}\n', True, [1]),
    ],
)
def test_a_data_frame_warns_of_a_file_with_values_in_no_row(
    glue_context, s3, warned, monkeypatch, many, text, multi_line, ids
):
    monkeypatch.setattr(MANY, many)
    s3.put("a.json", '{"id":0}\n')
    s3.put("b c.json", text)

    frame = glue_context.create_data_frame.from_options(
        "s3", {"paths": [s3.uri]}, "json", {"multiLine": multi_line}
    )

    assert frame.columns == ["id"]
    assert sorted([row[0] for row in frame.collect()], key=str) == sorted([0, *ids], key=str)
    (warning,) = warned()
    assert warning.startswith(f"{s3.uri}b c.json has several JSON values")


@pytest.mark.parametrize(
    "text",
    [
        '[{"id":1},{"id":2}] \n',
        '{"id":"}{"}\n',
        "",
        ' \n{"id":1}',
        *at_night('{"id":1}\n', "{'id':1}\n", "{}"),
    ],
)
@pytest.mark.parametrize("multi_line", [False, True])
def test_a_data_frame_of_one_value_a_line_is_no_warning(glue_context, s3, warned, text, multi_line):
    s3.put("a.json", text)

    glue_context.create_data_frame.from_options(
        "s3", {"paths": [s3.uri]}, "json", {"multiLine": multi_line}
    ).collect()

    assert warned() == []


def test_a_table_read_as_a_data_frame_names_such_a_file(glue_context, define, s3, warned):
    define(COLUMNS)
    s3.put("a.json", '{"id":1}{"id":2}\n')

    frame = glue_context.create_data_frame.from_catalog("lake", s3.folder.name)

    assert ids_of(frame) == [1]
    assert any(one.startswith(f"{s3.uri}a.json has several JSON values") for one in warned())


@pytest.mark.rule(
    "Bad input", source="INFER", choice="above 256 MiB, with an error that names the file"
)
@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
@pytest.mark.parametrize("options", [{}, {"withSchema": json.dumps(SCHEMA)}])
def test_several_values_in_a_file_above_the_size_limit_are_refused(
    from_options, s3, monkeypatch, name, options
):
    monkeypatch.setattr("tidemark.glue_job.readers.json.lines.MAX_BYTES", 10)
    text = b'{"id":1}\n{"id":2}\n'
    s3.put(name, "").write_bytes(gzip.compress(text) if name.endswith("gz") else text)

    with pytest.raises(Exception, match=rf"{name} as json: it has several .*leave multiLine out"):
        from_options(multiLine=True, **options)

    s3.put(name, "").write_bytes(gzip.compress(text[:9]) if name.endswith("gz") else text[:9])
    assert ids_of(from_options(multiLine=True, **options)) == [1]


@pytest.mark.rule("Bad input", source="INFER", choice="an error that names the file")
@pytest.mark.parametrize("many", [1, 200])
@pytest.mark.parametrize("tail", [b"garbage", b"BZh9", b"\0\0"])
def test_bytes_after_the_last_bzip2_stream_are_an_error(from_options, s3, monkeypatch, many, tail):
    monkeypatch.setattr(MANY, many)
    s3.put("bad.json.bz2", "").write_bytes(bz2.compress(b'{"id":1}\n') + tail)

    with pytest.raises(Exception, match=r"bad\.json\.bz2 as json: its last bytes are not the end"):
        from_options()


def test_all_streams_of_a_bzip2_file_are_read(from_options, s3):
    raw = [b'{"id":%d}\n' % one * one for one in range(1, 30)]
    s3.put("a.json.bz2", "").write_bytes(b"".join(map(bz2.compress, raw)))

    assert len(ids_of(from_options())) == sum(range(1, 30))
