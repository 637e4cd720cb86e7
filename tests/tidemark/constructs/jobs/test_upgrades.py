"""Jobs with GlueVersion auto: what is deployed, and when synthesis warns."""

import pytest

from tidemark.constructs import GlueVersion, JobRuntime
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.glue_versions import DECLARABLE
from tidemark.model.stage.runtime import StreamingRuntime

AUTO = JobRuntime(glue_version=GlueVersion.AUTO, max_retries=1)
APPEND = "rows.write.mode('append').parquet(path)\n"


def warnings_of(stack):
    from aws_cdk.assertions import Annotations, Match

    found = Annotations.from_stack(stack).find_warning("*", Match.any_value())
    return [str(one.entry.data) for one in found]


def test_the_versions_are_those_that_can_be_declared():
    assert tuple(GlueVersion) == DECLARABLE
    assert JobRuntime(glue_version=GlueVersion.V6_0) == JobRuntime(glue_version="6.0")


def test_a_streaming_runtime_with_auto_needs_a_retry_too():
    assert StreamingRuntime(glue_version=GlueVersion.AUTO, max_retries=1).glue_version == "auto"
    with pytest.raises(JobDefinitionError, match="set max_retries=1"):
        StreamingRuntime(glue_version="auto")


def test_a_job_with_auto_that_appends_is_warned_of_at_synthesis(add):
    (add.root / "job.py").write_text(f"import sys\n{APPEND}", encoding="utf-8")
    add("orders", runtime=AUTO)

    (warning,) = [one for one in warnings_of(add.stack) if "retry-appends" in one]

    (job,) = add.properties("AWS::Glue::Job")
    assert (job["GlueVersion"], job["MaxRetries"]) == ("auto", 1)
    assert "job.py: write.parquet on line 2" in warning
    assert "docs/automatic-upgrades.md" in warning


@pytest.mark.parametrize(
    ("script", "runtime"),
    [
        (APPEND, JobRuntime(max_retries=1)),
        ("write_window(rows, path, window)\n", AUTO),
        ("rows.write.mode('overwrite').parquet(path)\n", AUTO),
    ],
)
def test_synthesis_is_silent_where_a_retry_writes_the_same_again(add, script, runtime):
    (add.root / "job.py").write_text(script, encoding="utf-8")
    add("orders", runtime=runtime)

    assert [one for one in warnings_of(add.stack) if "retry-appends" in one] == []
