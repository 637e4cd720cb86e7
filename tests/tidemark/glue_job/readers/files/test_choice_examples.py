"""A choice that a script did not resolve: a failure names its column, types and files."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException

from tidemark.glue_job.process.failures import failure_of, print_from_script
from tidemark.glue_job.readers.files.choice_examples import remedy_of_choice

pytestmark = pytest.mark.spark


@pytest.fixture
def cast_of(glue_context, s3):
    """Return a function that casts a column of the JSON below the folder, and the error."""

    def cast_of(column, kind="bigint"):
        options = {"paths": [s3.uri], "recurse": True}
        frame = glue_context.create_dynamic_frame.from_options("s3", options, "json").toDF()
        with pytest.raises(AnalysisException) as failed:
            frame.selectExpr(f"CAST(`{column}` AS {kind})")
        return failed.value

    return cast_of


@pytest.mark.nightly
def test_it_names_an_example_of_each_type_by_file_and_line(s3, cast_of):
    s3.put("1.json", '{"id": 1}\n')
    s3.put("new/2.json", '{"id": 2}\n{"id": 3, "status": "op\n{"id": "abc"}\n')

    remedy = remedy_of_choice(failure_of(cast_of("id"), "job.py").cause)

    assert "the column id is a choice of int and string" in remedy
    assert f'the string "abc" in {s3.uri}new/2.json, line 3' in remedy
    assert "the int 1 in " in remedy
    assert 'resolveChoice(specs=[("id", "cast:int")])' in remedy


@pytest.mark.nightly
@pytest.mark.parametrize("column", ["a", "id", "string"])
def test_of_several_columns_of_the_same_types_it_names_the_one_that_is_cast(s3, cast_of, column):
    s3.put("1.json", '{"a": 1, "id": 1, "string": 1}\n{"a": "x", "id": "y", "string": "z"}\n')

    remedy = remedy_of_choice(failure_of(cast_of(column), "job.py").cause)

    assert f"the column {column} is a choice" in remedy


def test_where_lines_are_no_records_it_names_the_file(s3, cast_of):
    s3.put("1.json", '[{"id": 1.5},\n {"id": {"a": 1}}]')

    remedy = remedy_of_choice(failure_of(cast_of("id", "double"), "job.py").cause)

    assert f"the double 1.5 in {s3.uri}1.json and the struct" in remedy


def test_of_another_failure_it_says_nothing(s3, cast_of):
    s3.put("1.json", '{"id": {"a": 1}}\n')

    assert remedy_of_choice(failure_of(cast_of("id"), "job.py").cause) == ""
    assert remedy_of_choice("AnalysisException: no such column") == ""


def test_the_log_has_the_message_without_the_plan(s3, cast_of, capsys):
    s3.put("1.json", '{"id": 1}\n{"id": "abc"}\n')
    error = cast_of("id")
    assert "Project" in str(error)

    print_from_script(error, "job.py")

    log = capsys.readouterr().err
    assert "cannot cast" in log
    assert not any(word in log for word in ("Project", "dev.tidemark"))
