"""What tests of graph_at_synth share."""

import json
from pathlib import Path
from tempfile import mkdtemp

import pytest

KEY = "arn:aws:kms:eu-west-1:123456789012:key/k"


def new_pipeline(cdk, project, context=None):
    """Return a pipeline in a stack of an app of its own."""
    from tidemark.constructs.pipeline import Pipeline
    from tidemark.model.stage.config import StageConfig
    from tidemark.model.stage.runtime import JobRuntime

    out = mkdtemp(dir=project)
    stack = cdk.Stack(cdk.App(analytics_reporting=False, outdir=out, context=context), "stack")
    return Pipeline(
        stack,
        "Orders",
        name="orders",
        root=project,
        stage=StageConfig("dev", None, None, None, JobRuntime()),
        watermarks=new_table(stack),
        key=key_of(stack),
    )


def synthesized(pipeline):
    """Return the template."""
    folder = pipeline.node.root.synth().directory
    return json.loads((Path(folder) / "stack.template.json").read_text())


def shown_by(pipeline):
    """Return what the validation report says, each finding as its path, text and remedy."""
    report = json.loads((Path(pipeline.node.root.outdir) / "validation-report.json").read_text())
    return [
        (construct["constructPath"], violation["description"], violation["suggestedFix"])
        for plugin in report["pluginReports"]
        if plugin["pluginName"] == "tidemark"
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    ]


def refusals(pipeline):
    """Return what the report of a synthesis that fails says."""
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesized(pipeline)
    return shown_by(pipeline)


def disable(pipeline, name, **changes):
    from tidemark.constructs.jobs.job_props import BookmarkOption

    return pipeline.add_job(name, script="job.py", bookmark=BookmarkOption.DISABLE, **changes)


ENABLE = "job-bookmark-enable"


def new_table(scope):
    from tidemark.constructs.watermark_table import WatermarkTable

    return WatermarkTable(scope, "Watermarks")


def key_of(scope):
    from aws_cdk import aws_kms as kms

    return kms.Key.from_key_arn(scope, "Key", KEY)


SCHEDULED = {"Type": "SCHEDULED", "StartOnCreation": True}
