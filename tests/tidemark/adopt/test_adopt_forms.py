"""What adopt takes for valid is what the constructs take: they start Node, so it has copies."""

from __future__ import annotations

import pytest

from tidemark.adopt import places
from tidemark.adopt.crawlers import crawler as crawlers
from tidemark.adopt.crawlers import targets as crawled
from tidemark.adopt.jobs import job as jobs
from tidemark.adopt.jobs import options as job_options
from tidemark.adopt.jobs import scripts
from tidemark.adopt.starts import started

pytestmark = pytest.mark.synth


def test_the_copies_are_the_forms_of_the_constructs():
    from tidemark.constructs import dataset
    from tidemark.constructs.catalog import table_use
    from tidemark.constructs.crawlers import crawler, other_targets, targets
    from tidemark.constructs.crawlers import options as crawler_options
    from tidemark.constructs.jobs import action_options, job_arguments, job_checks, own_texts
    from tidemark.constructs.jobs import job_options as options

    assert places.PREFIX == dataset.PREFIX
    assert jobs.NAME == job_arguments.NAME
    assert jobs.PINNED == job_checks.PINNED_MODULE
    assert job_options.OPTION == job_arguments.OPTION
    assert job_options.RESERVED == job_arguments.RESERVED
    assert job_options.DESCRIPTION == own_texts.DESCRIPTION
    assert job_options.MAX_BYTES == own_texts.MAX_BYTES
    assert job_options.MAX_RUNS == options.MAX_RUNS
    assert started.MAX_MINUTES == action_options.MAX_MINUTES
    assert crawlers.DATABASE == crawler.DATABASE
    assert crawlers.PREFIX == crawler_options.PREFIX
    assert crawled.JDBC_PATH == targets.JDBC_PATH
    assert crawled.MAX_SAMPLED == targets.MAX_SAMPLED
    assert crawled.MAX_FOLDERS == other_targets.MAX_FOLDERS
    assert crawled.DYNAMODB_TABLE == other_targets.DYNAMODB_TABLE
    assert crawled.MIN_RATE == other_targets.MIN_RATE
    assert crawled.MAX_RATE == other_targets.MAX_RATE
    for of, members in (
        (crawler_options.SchemaUpdate, crawlers.ON_CHANGE),
        (crawler_options.MissingData, crawlers.ON_MISSING),
    ):
        assert {member.value: member.name for member in of} == members
    assert scripts.TABLE == table_use.NAME
