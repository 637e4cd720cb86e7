"""What adopt takes for valid is what the constructs take: they start Node, so it has copies."""

from __future__ import annotations

import pytest

from tidemark.adopt import glue_arguments, job_options, jobs, places, scripts

pytestmark = pytest.mark.synth


def test_the_copies_are_the_forms_of_the_constructs():
    from tidemark.constructs import dataset
    from tidemark.constructs.jobs import glue_arguments as own
    from tidemark.constructs.jobs import job_arguments, job_checks
    from tidemark.constructs.jobs import job_options as options

    assert places.PREFIX == dataset.PREFIX
    assert jobs.NAME == job_arguments.NAME
    assert jobs.PINNED == job_checks.PINNED_MODULE
    assert job_options.OPTION == job_arguments.OPTION
    assert job_options.RESERVED == job_arguments.RESERVED
    assert job_options.DESCRIPTION == options.DESCRIPTION
    assert job_options.MOST_RUNS == options.MOST_RUNS
    assert scripts.TABLE == job_checks.TABLE
    assert glue_arguments.LOG_STREAM == own.LOG_STREAM
    assert glue_arguments.OTHER == own.OTHER
    assert glue_arguments.FORMATS == own.DATALAKE_FORMATS
