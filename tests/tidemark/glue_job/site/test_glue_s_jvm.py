"""What scripts ask of Glue's JVM."""

from __future__ import annotations

import pytest

from tidemark.errors import UnsupportedError

pytestmark = pytest.mark.spark


def test_a_script_asks_where_aws_is(glue_context, monkeypatch):
    where = glue_context._jvm.AWSConnectionUtils
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.delenv("AWS_ENDPOINT_URL_GLUE", raising=False)

    assert where.getRegion() == "eu-west-1"
    assert where.getGlueEndpoint() == "https://glue.eu-west-1.amazonaws.com"
    assert where.getGlueProxyUrl()[8:].startswith("null")  # as AWS's samples ask
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:4566")
    assert where.getGlueEndpoint() == "http://localhost:4566"
    assert glue_context._jvm.java.lang.Math.abs(-1) == 1


def test_objects_of_glue_s_jvm_are_refused_by_name(glue_context, spark):
    from awsglue.dynamicframe import DynamicFrame

    frame = DynamicFrame.fromDF(spark.range(1), glue_context, "ids")

    with pytest.raises(UnsupportedError, match=r"DynamicFrame\._jdf\.schema .*schema\(\)"):
        frame._jdf.schema().treeString()
    with pytest.raises(UnsupportedError, match=r"GlueContext\._glue_scala_context"):
        glue_context._glue_scala_context.getSource("s3")
