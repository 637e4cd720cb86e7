"""What an override of a job or a crawler makes untrue: its grants, or whose logs are whose."""

import json
from pathlib import Path

import pytest

from tests.fixtures.pipelines import small_library
from tests.tidemark.checks.graph.synthesized import disable, new_pipeline, synthesized
from tidemark.constructs.overrides import RULE, changed

DECLARED = {
    "Role": {"Fn::GetAtt": ["Role", "Arn"]},
    "SecurityConfiguration": "orders",
    "DefaultArguments": {
        "--custom-logGroup-prefix": "/tidemark/orders",
        "--TempDir": "s3://l/t/",
        "--source_path": "s3://lake/in/",
    },
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    small_library(root)
    (root / "job.py").write_text("print('hello')\n")
    return root


def with_changes(**changes):
    return {**DECLARED, **changes}


def arguments(**changes):
    given = {**DECLARED["DefaultArguments"], **changes}
    return with_changes(DefaultArguments={k: v for k, v in given.items() if v is not None})


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        (DECLARED, []),
        (with_changes(Description="other", Tags={"a": "b"}), []),
        (arguments(**{"--my_own": "x"}), []),
        (with_changes(Role="arn:aws:iam::1:role/other"), ["Role"]),
        ({**DECLARED, "Role": None}, ["Role"]),
        (with_changes(SecurityConfiguration="other"), ["SecurityConfiguration"]),
        (with_changes(Connections={"Connections": ["other"]}), ["Connections"]),
        (arguments(**{"--custom-logGroup-prefix": "/mine"}), ["--custom-logGroup-prefix"]),
        (arguments(**{"--TempDir": None}), ["--TempDir"]),
        (arguments(**{"--continuous-log-logGroup": "/mine"}), ["--continuous-log-logGroup"]),
        (arguments(**{"--watermark_table": "mine"}), ["--watermark_table"]),
        (arguments(**{"--additional-python-modules": "x"}), ["--additional-python-modules"]),
        (arguments(**{"--source_path": "s3://other/"}), ["--source_path"]),
        (with_changes(NonOverridableArguments={"--TempDir": "s3://o/"}), ["--TempDir"]),
        (
            with_changes(
                DefaultArguments={},
                NonOverridableArguments=DECLARED["DefaultArguments"],
            ),
            [],
        ),
    ],
)
def test_what_grants_follow_from_is_compared(properties, expected):
    assert [name for name, _, _ in changed(DECLARED, properties)] == expected


def shown(pipeline):
    """Return the findings of the rule, each as where it is and what it says."""
    report = json.loads((Path(pipeline.node.root.outdir) / "validation-report.json").read_text())
    return [
        (construct["constructPath"], violation["description"])
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        if violation["ruleName"] == RULE
        for construct in violation["violatingConstructs"]
    ]


def other_role(job):
    from aws_cdk import aws_iam as iam

    glue = iam.ServicePrincipal("glue.amazonaws.com")
    job.resource.role = iam.Role(job, "Other", assumed_by=glue).role_arn


OVERRIDES = {
    "Role": other_role,
    "SecurityConfiguration": lambda job: job.resource.add_property_override(
        "SecurityConfiguration", "other"
    ),
    "--custom-logGroup-prefix": lambda job: job.resource.add_property_override(
        "DefaultArguments.--custom-logGroup-prefix", "/mine"
    ),
    "--watermark_table": lambda job: job.resource.add_property_override(
        "NonOverridableArguments.--watermark_table", "another"
    ),
    "Command.ScriptLocation": lambda job: job.resource.add_override(
        "Properties.Command.ScriptLocation", "s3://elsewhere/job.py"
    ),
}


def test_overrides_are_refused_by_name_at_synthesis_unless_acknowledged(cdk, project):
    pipeline = new_pipeline(cdk, project)
    for number, override in enumerate(OVERRIDES.values()):
        override(disable(pipeline, f"job{number}"))

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesized(pipeline)
    found = shown(pipeline)
    assert [path for path, _ in found] == [f"stack/Orders/Job{n}/Resource" for n in range(5)]
    assert all(name in text for name, (_, text) in zip(OVERRIDES, found, strict=True))

    again = new_pipeline(cdk, project)
    job = disable(again, "first")
    OVERRIDES["Role"](job)
    job.acknowledge(RULE, "the platform team grants that role what the job needs")
    assert synthesized(again)["Resources"]


def test_a_crawler_and_jobs_of_other_kinds_are_judged_and_right_as_declared(cdk, project):
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs.dataset import Dataset

    def declare():
        pipeline = new_pipeline(cdk, project)
        lake = s3.Bucket.from_bucket_name(pipeline, "Lake", "lake")
        data = Dataset(lake, "x/", delivered=True)
        crawler = pipeline.add_crawler("crawl", targets=[data], database="d")
        shell = pipeline.add_shell_job("shell", script="job.py")
        given = {"arguments": {"source_path": data, "day": "1"}, "reads": [data]}
        disable(pipeline, "spark", temp=Dataset(lake, "temp/"), **given)
        return pipeline, crawler, shell

    assert synthesized(declare()[0])["Resources"]

    pipeline, crawler, shell = declare()
    crawler.resource.add_property_override("CrawlerSecurityConfiguration", "other")
    shell.resource.add_property_deletion_override("Role")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesized(pipeline)

    assert {path for path, _ in shown(pipeline)} == {
        "stack/Orders/Crawl/Resource",
        "stack/Orders/Shell/Resource",
    }


def test_jobs_of_stages_with_templates_of_one_name_are_told_apart(cdk, project, tmp_path):
    from tests.tidemark.checks.graph.synthesized import key_of
    from tidemark.constructs.pipeline import Pipeline
    from tidemark.constructs.watermark_table import WatermarkTable
    from tidemark.model.stage.config import StageConfig
    from tidemark.model.stage.runtime import JobRuntime

    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    for name in ("dev", "prod"):
        stack = cdk.Stack(cdk.Stage(app, name), "stack")
        pipeline = Pipeline(
            stack,
            "Orders",
            name="orders",
            root=project,
            stage=StageConfig(name, None, None, None, JobRuntime()),
            watermarks=WatermarkTable(stack, "Watermarks"),
            key=key_of(stack),
        )
        job = disable(pipeline, "first")
    job.resource.add_property_override("SecurityConfiguration", "other")

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    assert [path for path, _ in shown(pipeline)] == ["prod/stack/Orders/First/Resource"]
