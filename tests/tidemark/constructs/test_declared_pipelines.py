"""What a pipeline may be declared with, and which names are its own."""

import pytest

from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth


def another_pipeline(add, **changes):
    from tidemark.constructs.pipeline import Pipeline

    given = {
        "root": add.pipeline._root,
        "stage": add.pipeline._stage,
        "watermarks": None,
        "key": add.stack.node.find_child("Key"),
    }
    return Pipeline(add.stack, "Other", name="other", **{**given, **changes})


@pytest.mark.parametrize("made", ["imported", "added"])
def test_an_alias_of_a_key_is_refused(add, made):
    """IAM and log groups know keys only: what a policy says of an alias has no effect."""
    from aws_cdk import aws_kms as kms

    key = add.stack.node.find_child("Key")
    imported = kms.Alias.from_alias_name(add.stack, "Alias", "alias/acme")
    alias = imported if made == "imported" else key.add_alias("alias/acme")

    with pytest.raises(JobDefinitionError, match=r"has key .*allowed: the key itself"):
        another_pipeline(add, key=alias)


def test_a_pipeline_without_a_watermark_table_has_no_watermark_job(add):
    other = another_pipeline(add)

    other.add_job("one", script="job.py", bookmark=add.bookmark)
    with pytest.raises(JobDefinitionError, match="'two' keeps a watermark, but its pipeline has"):
        other.add_job("two", script="job.py", bookmark=add.bookmark, watermark=True)


@pytest.mark.parametrize("name", ["start", "workflow", "libs", "security", "operations"])
def test_a_name_that_the_pipeline_uses_itself_is_refused(add, name):
    with pytest.raises(JobDefinitionError, match="uses for something else; give it another name"):
        add(name)


def test_a_job_named_like_the_trigger_of_another_is_refused(add):
    first = add("first")
    add("second", after=[first])

    with pytest.raises(JobDefinitionError, match="construct id 'SecondTrigger', which the pipelin"):
        add("second-trigger")
