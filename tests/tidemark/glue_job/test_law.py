"""The law: rows and columns in are rows and columns out, error records, and warnings.

Any source with any options, any transforms, any sink. What must come out says plain Python; files
are written and read by other programs than Spark. The tables of the project say what there is: a
new format, option, transform or sink fails here until somebody says what it does to rows.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from awsglue.transforms import ALL_TRANSFORMS
from tests.tidemark.glue_job.law.formats import OPTIONS, READERS, WRITERS
from tests.tidemark.glue_job.law.sinks import SINKS, VALUES, fits
from tests.tidemark.glue_job.law.sources import CHOOSES_FILES, FASTER, PLAIN, SOURCES
from tests.tidemark.glue_job.law.steps import STEPS
from tests.tidemark.glue_job.law.world import World
from tidemark.glue_job.readers.files.formats import READ_OPTIONS
from tidemark.glue_job.readers.files.s3 import READERS as FILE_READERS
from tidemark.glue_job.readers.files.s3_options import KNOWN, NO_EFFECT
from tidemark.glue_job.writers.formats import WRITE_OPTIONS
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.model.awsglue_api.connections import READ_FORMATS, WRITE_FORMATS

pytestmark = pytest.mark.spark


def test_every_reader_transform_and_sink_is_under_the_law():
    assert {name: set(known) for name, known in OPTIONS.items()} == READ_OPTIONS
    assert set(WRITERS) == set(FILE_READERS)
    assert set(READ_FORMATS) <= set(SOURCES)
    assert {"paths", *PLAIN, *FASTER, *CHOOSES_FILES} == KNOWN | NO_EFFECT
    assert set(STEPS) == ALL_TRANSFORMS
    assert set(WRITE_FORMATS) <= set(SINKS)
    assert set(READERS) == set(WRITE_OPTIONS)
    assert {name for known in WRITE_OPTIONS.values() for name in known} == {*VALUES, "compression"}


@pytest.fixture
def world(glue_context, s3, spark_home, dynamodb, tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    derby = "jdbc:derby:memory:law;create=true"
    return World(glue_context, s3, tmp_path, spark_home, dynamodb, derby)


def hold(world, draw, source):
    """Read, transform and write, and hold account of the rows after each."""
    world.said.clear()
    world.must_name.clear()
    for file in world.warnings_folder.iterdir():
        file.unlink()
    frame, table = SOURCES[source](draw, world)
    world.account(frame, table)
    steps = sorted(STEPS, key=lambda transform: transform.__name__)
    for transform in draw(st.lists(st.sampled_from(steps), max_size=3)):
        world.say(transform.__name__)
        frame, table = STEPS[transform](draw, world, frame, table)
    world.account(frame, table)
    if table.rows:
        sinks = [name for name in sorted(SINKS) if fits(name, table)]
        SINKS[draw(st.sampled_from(sinks))](draw, world, frame, table)


def examples(count):
    """Settings of a property of which each example is several jobs of Spark: without shrinking."""
    return settings(
        max_examples=count,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )


@examples(2)
@given(data=st.data())
def test_rows_and_columns_are_accounted_for(world, data):
    hold(world, data.draw, data.draw(st.sampled_from(sorted(SOURCES))))


@pytest.mark.nightly
@pytest.mark.parametrize("source", sorted(SOURCES))
@examples(25)
@given(data=st.data())
def test_rows_and_columns_of_every_source_are_accounted_for(world, source, data):
    hold(world, data.draw, source)
