"""What our awsglue does not run is refused by name, before any Spark session is used."""

from __future__ import annotations

import pytest

from awsglue.context import GlueContext
from awsglue.dataframereader import DataFrameReader
from awsglue.dynamicframe import DynamicFrame, DynamicFrameReader, DynamicFrameWriter
from awsglue.job import Job
from tidemark.glue_job.readers.request import options_request
from tidemark.glue_job.readers.sources import read
from tidemark.glue_job.writers import formats, s3_files
from tidemark.glue_job.writers.s3_files import write_s3
from tidemark.local_state.run_warnings import RunWarning

S3 = {"paths": ["s3://b/in/"]}


class FrameWithoutSpark(DynamicFrame):
    """A frame for paths that end before a row is touched."""

    columns = ("a",)

    def __init__(self):
        """Start no JVM."""

    def toDF(self):  # noqa: N802 (AWS's name)
        return self


@pytest.fixture
def context():
    """A context without the session that would start a JVM."""
    context = object.__new__(GlueContext)
    context.spark_session = None
    context.create_data_frame = DataFrameReader(context)
    context.create_dynamic_frame = DynamicFrameReader(context)
    context.write_dynamic_frame = DynamicFrameWriter(context)
    return context


def test_options_of_the_context_are_refused_by_name():
    with pytest.raises(NotImplementedError, match=r"\['maxPartitions', 'target'\]"):
        GlueContext(None, target=2, maxPartitions=1, minPartitions=1)


def test_other_connection_types_are_refused_for_reading_and_writing(context):
    with pytest.raises(NotImplementedError, match=r"'netsuite' .* allowed are s3, .*coverage.md"):
        context.create_dynamic_frame.from_options("netsuite", {})
    with pytest.raises(NotImplementedError, match="'kinesis' is a stream: streaming jobs do not"):
        context.create_dynamic_frame.from_options("kinesis", {})
    with pytest.raises(NotImplementedError, match="'kafka' is not supported; allowed are s3, "):
        context.write_dynamic_frame.from_options(FrameWithoutSpark(), "kafka", {})


def test_format_of_a_table_is_refused(context):
    with pytest.raises(NotImplementedError, match=r"format 'csv' .* a table has no format"):
        context.create_dynamic_frame.from_options("mysql", {"url": "jdbc:mysql://x"}, "csv")


@pytest.mark.parametrize("name", ["delta", "grokLog", None])
def test_other_formats_are_refused_with_the_allowed_ones(context, name):
    with pytest.raises(NotImplementedError, match=f"{name!r} .* allowed are csv, json, avro, xml"):
        context.create_dynamic_frame.from_options("s3", S3, name)
    with pytest.raises(NotImplementedError, match=f"{name!r} .* allowed are csv, json, parquet"):
        context.write_dynamic_frame.from_options(
            FrameWithoutSpark(), "s3", {"path": "s3://b/out/"}, name
        )


def test_unsupported_option_of_a_source_is_refused_by_name():
    with pytest.raises(NotImplementedError, match=r"\['catalogPartitionPredicate'\]"):
        read(None, options_request("s3", {**S3, "catalogPartitionPredicate": "a"}, "json"))


def test_unsupported_option_of_a_sink_is_refused_by_name():
    with pytest.raises(NotImplementedError, match=r"connection_options \['transactionId'\]"):
        write_s3(FrameWithoutSpark(), {"path": "s3://b/", "transactionId": "1"}, "json", {})


def test_options_of_a_sink_that_glue_does_not_know_are_warnings(monkeypatch):
    noted = []
    for module in (s3_files, formats):
        monkeypatch.setattr(module, "note", lambda warning, about: noted.append((warning, about)))

    sink = s3_files.s3_sink({"path": "s3://b/", "overwrite": "true"})
    how = formats.write_format("csv", {"seperator": "|"})

    assert (sink.path, how.options["sep"]) == ("s3://b/", ",")
    assert [warning for warning, _ in noted] == [RunWarning.OPTION_IGNORED] * 2
    assert "'overwrite'" in noted[0][1]
    assert "'seperator'" in noted[1][1]


@pytest.mark.parametrize("paths", [None, 1, []], ids=["missing", "number", "empty"])
def test_paths_that_are_no_list_are_refused_with_what_was_given(paths):
    with pytest.raises(ValueError, match=r"\['paths'\] is .*; it must be a list of URIs"):
        read(None, options_request("s3", {"paths": paths}, "json"))


@pytest.mark.parametrize("path", [None, "", ["s3://b/"]], ids=["missing", "empty", "list"])
def test_path_that_is_no_text_is_refused_with_what_was_given(path):
    with pytest.raises(ValueError, match=r"\['path'\] is .*; it must be a URI"):
        write_s3(FrameWithoutSpark(), {"path": path}, "json", {})


def test_commit_without_init_does_nothing():
    Job(None).commit()
