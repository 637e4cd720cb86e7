"""docs/awsglue-coverage.md says what the coverage data say, and they what the code decides."""

from __future__ import annotations

from tidemark.glue_job.readers.databases.jdbc import DRIVERS
from tidemark.glue_job.readers.files.formats import READ_OPTIONS, SAME_AS
from tidemark.glue_job.readers.files.s3_options import FILE_CONNECTIONS
from tidemark.glue_job.writers.formats import WRITE_OPTIONS
from tidemark.model.awsglue_api import connections
from tidemark.model.awsglue_api.table import State, entries
from tools.awsglue_coverage_doc import DOCUMENT, render
from tools.corpus.covered import covered, runs_here

OTHERS = {"dynamodb", "custom.spark", "marketplace.spark", "mongodb", "documentdb"}


def test_page_is_what_the_data_say():
    assert DOCUMENT.read_text(encoding="utf-8") == render(), "run `make coverage`"


def test_connection_types_and_formats_are_those_of_readers_and_writers():
    types = {*FILE_CONNECTIONS, *DRIVERS, *OTHERS}

    assert (set(connections.READ_TYPES), set(connections.WRITE_TYPES)) == (types, types)
    assert set(connections.READ_FORMATS) == {*READ_OPTIONS, *SAME_AS}
    assert set(connections.WRITE_FORMATS) == {*WRITE_OPTIONS, *SAME_AS}


def test_every_name_is_there_once_and_says_what_differs():
    names = [one.full_name for one in entries()]

    assert len(names) == len(set(names)) == 524
    assert [one for one in entries() if (one.state is State.FULL) == bool(one.note)] == []


def test_the_share_of_the_corpus_is_computed_from_the_data():
    found = covered()

    assert found.floor <= found.estimate
    assert found.estimate >= 92
    assert runs_here("GlueContext.getSink")
    assert runs_here("read:s3/CSV")
    assert not runs_here("read:kinesis")
