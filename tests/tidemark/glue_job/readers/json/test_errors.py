"""Records of JSON that are none: error records of the DynamicFrame; the others are rows."""

from __future__ import annotations

import pytest

from tests.sampled import sampled
from tidemark.glue_job.frames.errors import ErrorThresholdError
from tidemark.glue_job.readers.files.read_errors import UnreadableFileError
from tidemark.glue_job.readers.json.kinds import BROKEN
from tidemark.local_state.run_warnings import RunWarning

pytestmark = pytest.mark.spark

LINES = '{"id": 1}\n{"id": oops\n{"id": "2"}\n[1]\n'


@pytest.fixture
def read(glue_context, s3):
    def read(**options):
        return glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [s3.uri]}, "json", options, "people"
        )

    return read


@pytest.fixture
def noted(monkeypatch):
    found = []
    monkeypatch.setattr(
        "tidemark.glue_job.readers.json.errors.note",
        lambda warning, about: found.append((warning, about)),
    )
    return found


def errors_of(frame):
    rows = frame.errorsAsDynamicFrame().toDF().select("error.*").collect()
    return sorted((row.source.rpartition("/")[2], row.input, row.bytesread) for row in rows)


@pytest.mark.rule("Bad input", source="DYF", choice="one error per line that is not a JSON object")
def test_lines_that_are_not_json_are_error_records_and_the_others_rows(read, s3, noted, start_job):
    s3.put("day=1/a b.json", LINES)
    s3.put("day=2/b.json", '{"id": 3,\n "name": "é"}\n')
    job = start_job()

    frame = read()
    kept = frame.drop_fields(["name"])
    job.commit()

    rows = frame.resolveChoice(specs=[("id", "cast:long")]).toDF()
    assert sorted(rows.collect(), key=str) == [(1, None, 1), (2, None, 1), (3, "é", 2)]
    assert (frame.count(), frame.errorsCount(), frame.stageErrorsCount()) == (3, 2, 2)
    assert (kept.errorsCount(), kept.stageErrorsCount()) == (2, 0)
    assert errors_of(kept) == [("a b.json", "[1]", 3), ("a b.json", '{"id": oops', 11)]
    assert [one.name for one in kept.errorsAsDynamicFrame().schema().getField("error").dataType][
        -1
    ] == "dynamicRecord"
    assert [warning for warning, _ in noted] == [RunWarning.ERROR_RECORDS]
    assert "2 records not JSON, or too deep, first one of s3://" in noted[0][1]
    with pytest.raises(ErrorThresholdError, match=r"2 records have errors .* allows 1"):
        kept.drop_fields(["id"], totalThreshold=1)
    assert read().count() == 0  # what could not be read is behind the bookmark, as the rows are


@pytest.mark.nightly
@pytest.mark.rule(
    "Bad input", source="DYF", choice="one error per file without a line that is a record"
)
@pytest.mark.parametrize("options", [{}, {"multiLine": True}])
def test_a_file_without_any_record_is_one_error(read, s3, noted, options):
    s3.put("bad.json", '{\n "id": 1,\n')
    s3.put("good.json", '{\n "id": 1\n}\n')

    frame = read(**options)

    assert frame.toDF().collect() == [(1,)]
    assert errors_of(frame) == [("bad.json", '{\n "id": 1,\n', 12)]


@pytest.mark.rule("Bad input", source="INFER", choice="never silently an empty frame")
def test_files_without_any_record_fail(read, s3, noted):
    s3.put("bad.json", "id,name\n1,a\n")

    with pytest.raises(Exception, match=r"bad\.json as json: .* does not parse; "):
        read().count()

    assert noted == []


NO_RECORDS = ("null", "[1]", '[{"id": 1}, [{"id": 2}]]', "true", '"x"', "[[1]]", '["x"]', "7")


@pytest.mark.rule("Bad input", source="INFER", choice="by the name of its file, in every form")
@pytest.mark.parametrize("text", sampled(NO_RECORDS, "null", "[1]"))
@pytest.mark.parametrize("is_dynamic", [True, False], ids=["dynamic", "data frame"])
def test_a_file_of_json_that_is_not_an_object_fails(glue_context, s3, text, is_dynamic):
    s3.put("x.json", text)
    read = glue_context.create_dynamic_frame if is_dynamic else glue_context.create_data_frame

    for options in ({}, {"multiLine": True}):
        with pytest.raises(UnreadableFileError, match=r"x\.json as json: .* a record is an object"):
            read.from_options("s3", {"paths": [s3.uri]}, "json", options).count()


@pytest.mark.rule(
    "Bad input",
    source="INFER",
    choice="its records are rows, and a warning names the file; a DataFrame fails by name",
)
@pytest.mark.parametrize("options", [{}, {"multiLine": True}])
def test_null_beside_records_of_an_array_is_not_a_row(read, glue_context, s3, warned, options):
    s3.put("good.json", '{"id": 1}\n')
    s3.put("x.json", '[null, {"id": 2}, null, {"id": 3}]\n')

    assert sorted(row.id for row in read(**options).toDF().collect()) == [1, 2, 3]
    assert warned() == [("JSON_NULL_RECORD", f"{s3.uri}x.json")]
    frame = glue_context.create_data_frame.from_options("s3", {"paths": [s3.uri]}, "json", options)
    with pytest.raises(Exception, match=r"UnreadableFileError: cannot read \S*x\.json as json"):
        frame.collect()


@pytest.mark.nightly
def test_null_in_a_line_is_an_error_record_or_fails_by_name(read, glue_context, s3, warned):
    s3.put("x.json", '{"id": 1}\nnull\n{"id": 2}\n')

    frame = read()

    assert sorted(row.id for row in frame.toDF().collect()) == [1, 2]
    assert errors_of(frame) == [("x.json", "null", 4)]
    plain = glue_context.create_data_frame.from_options("s3", {"paths": [s3.uri]}, "json")
    with pytest.raises(Exception, match=r"x\.json as json: 'null' does not parse"):
        plain.collect()


@pytest.mark.nightly
def test_values_with_choices_and_many_small_files_have_error_records_too(
    monkeypatch, read, s3, noted
):
    monkeypatch.setattr("tidemark.glue_job.readers.json.lines.MANY", 1)
    s3.put("a.json", LINES)

    frame = read()

    assert sorted(frame.toDF().collect(), key=str) == [((1, None),), ((None, "2"),)]
    assert frame.errorsCount() == 2


def nested(depth):
    return '{"a": ' * depth + "1" + "}" * depth + "\n"


def test_a_record_that_is_nested_too_deep_is_an_error_record_of_its_file(read, s3, noted):
    s3.put("a.json", '{"b": 1}\n' + nested(9))
    s3.put("deep.json", '{"b": 2}\n' + nested(101) + nested(400) + nested(5000))

    frame = read()

    assert (frame.count(), frame.errorsCount()) == (3, 3)
    [(_, about)] = noted
    assert about.startswith("3 records not JSON, or too deep, first one of")
    assert "deep.json" in about


def test_a_hundred_levels_are_not_too_deep(spark):
    kinds = getattr(spark._jvm.dev.tidemark.json, "JsonKinds")  # noqa: B009 (`dir` knows no classes)

    assert [kinds.kinds(nested(depth)) == BROKEN for depth in (1, 100, 101)] == [False, False, True]


def test_the_file_that_is_no_utf_8_is_named_whatever_others_have(read, s3):
    s3.put("a.json", '{"id": oops\n')
    s3.put("b.json", "").write_bytes(b'{"id": "\xff"}\n')
    s3.put("c.json", '{"id": 1}\n')

    with pytest.raises(UnreadableFileError, match=r"b\.json as json: it is not UTF-8"):
        read()
