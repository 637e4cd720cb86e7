"""Sinks as Glue Studio generates them, and what they leave."""

from __future__ import annotations

import pytest

from tidemark.glue_job.writers import sinks, table_updates
from tidemark.local_state.catalog.tables import find_table
from tidemark.local_state.store.database import Store

FLIGHTS = "SELECT * FROM VALUES (1, 'EWR'), (2, 'JFK') AS flights(Id, origin)"


@pytest.fixture
def frame(spark, glue_context):
    """Return a maker of frames in one Spark partition."""
    from awsglue.dynamicframe import DynamicFrame

    def make(query=FLIGHTS):
        return DynamicFrame.fromDF(spark.sql(query).coalesce(1), glue_context, "flights")

    return make


@pytest.fixture
def sink(glue_context, s3):
    """Return a writer as Glue Studio generates it."""

    def write(frame, kind="glueparquet", format_options=None, catalog=True, **options):
        sink = glue_context.getSink(path=s3.uri, connection_type="s3", **options)
        if catalog:
            sink.setCatalogInfo(catalogDatabase="Lake", catalogTableName=s3.folder.name.upper())
        sink.setFormat(kind, **(format_options or {}))
        return sink.writeFrame(frame)

    return write


@pytest.fixture
def read(glue_context, s3):
    def read(**options):
        names = {"database": "lake", "table_name": s3.folder.name}
        frame = glue_context.create_dynamic_frame.from_catalog(**names, **options).toDF()
        return frame.dtypes, sorted(map(tuple, frame.collect()), key=str)

    return read


@pytest.fixture
def table(spark_home, s3):
    """Return a reader of the definition that the catalog holds."""

    def table():
        with Store(spark_home.database) as store:
            return find_table(store, "lake", s3.folder.name)

    return table


@pytest.fixture
def noted(monkeypatch):
    """Return the warnings that sinks note."""
    found = []
    for module in (sinks, table_updates):
        monkeypatch.setattr(module, "note", lambda warning, about: found.append((warning, about)))
    return found
