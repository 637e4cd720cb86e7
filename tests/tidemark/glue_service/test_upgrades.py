"""Jobs with GlueVersion auto on the port, by boto3: the Glue of this machine upgrades none."""

from __future__ import annotations

import json
import re

import pytest

from tests.tidemark.glue_service.test_jobs import COMMAND, create
from tidemark.glue_service.commands import load_app
from tidemark.glue_service.deployments import _define, versions_of_runs
from tidemark.glue_service.entities import EntityKind, get_entity
from tidemark.glue_service.runs.run_requests import RunRequest
from tidemark.glue_service.workflows.flows import job_to_run

STACK = {
    "s": {
        "type": "aws:cloudformation:stack",
        "environment": "aws://unknown-account/unknown-region",
        "properties": {"templateFile": "s.template.json"},
    }
}
AUTO = {"GlueVersion": "auto", "MaxRetries": 1}


def update(port, name, **members):
    whole = {"Role": "anyone", "Command": COMMAND, **members}
    port.glue.update_job(JobName=name, JobUpdate=whole)


def job(port, name):
    return port.glue.get_job(JobName=name)["Job"]


def version_of_a_run(port, name):
    entity = port.engine.ask(lambda glue: get_entity(glue.store, EntityKind.JOB, name))
    return job_to_run(entity, RunRequest("jr_0")).glue_version


@pytest.mark.rule(
    "The API on a port",
    source="AUTO, SILENT",
    choice="The local Glue never upgrades: the state stays OBSERVING, with the newest version that "
    "runs here as target and no source version. `tidemark run` of a template does the same",
)
def test_a_new_job_with_auto_is_observed_and_runs_on_the_newest_version(port):
    create(port, "new", **AUTO)

    new = job(port, "new")
    upgrade = new["AutoUpgradeMetadata"]

    assert new["GlueVersion"] == "auto"
    assert (upgrade["TargetVersion"], upgrade["Status"]) == ("6.0", "OBSERVING")
    assert "SourceVersion" not in upgrade
    assert re.fullmatch(r"ja-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", upgrade["AnalysisId"])
    assert version_of_a_run(port, "new") == "6.0"


@pytest.mark.rule(
    "The API on a port",
    source="AUTO, SILENT",
    choice="Always, as on AWS while it observes: `tidemark compare-versions` tells what an "
    "upgrade would change",
)
def test_a_job_changed_to_auto_keeps_running_on_the_version_that_it_had(port):
    create(port, "changed", GlueVersion="5.1")
    create(port, "unnamed")

    update(port, "changed", **AUTO)
    update(port, "unnamed", **AUTO)

    upgrade = job(port, "changed")["AutoUpgradeMetadata"]
    assert (upgrade["SourceVersion"], upgrade["TargetVersion"]) == ("5.1", "6.0")
    assert version_of_a_run(port, "changed") == "5.1"
    assert job(port, "unnamed")["AutoUpgradeMetadata"]["SourceVersion"] == "6.0"

    update(port, "changed", **AUTO, Description="again")

    assert job(port, "changed")["AutoUpgradeMetadata"] == upgrade
    listed = {one["Name"]: one for one in port.glue.get_jobs()["Jobs"]}
    assert listed["changed"]["AutoUpgradeMetadata"] == upgrade


@pytest.mark.on_aws
@pytest.mark.rule("The API on a port", source="AUTO, BOTO")
def test_only_a_job_with_auto_has_the_member(port):
    create(port, "pinned", GlueVersion="5.1")
    create(port, "left", **AUTO)
    update(port, "left", GlueVersion="5.0")

    assert "AutoUpgradeMetadata" not in job(port, "pinned")
    assert "AutoUpgradeMetadata" not in job(port, "left")
    assert job(port, "left")["GlueVersion"] == "5.0"


@pytest.mark.on_aws
@pytest.mark.rule("The API on a port", source="JOBS, BOTO")
def test_an_update_without_a_version_keeps_the_stored_one(port):
    create(port, "kept", GlueVersion="5.0")
    create(port, "kept-auto", **AUTO)

    update(port, "kept", Description="new")
    update(port, "kept-auto", MaxRetries=2)

    assert job(port, "kept")["GlueVersion"] == "5.0"
    assert job(port, "kept-auto")["GlueVersion"] == "auto"
    assert job(port, "kept-auto")["AutoUpgradeMetadata"]["Status"] == "OBSERVING"
    with pytest.raises(port.glue.exceptions.InvalidInputException):
        update(port, "kept-auto")  # without a retry


def test_the_analysis_of_a_job_with_auto_is_told_by_its_id(port):
    create(port, "analysed", GlueVersion="5.1")
    update(port, "analysed", **AUTO)
    id_ = job(port, "analysed")["AutoUpgradeMetadata"]["AnalysisId"]

    told = port.glue.get_job_upgrade_analysis(jobName="analysed", analysisId=id_)

    assert (told["status"], told["analysisType"]) == ("OBSERVING", "AUTO_UPGRADE")
    assert (told["sourceVersion"], told["targetVersion"]) == ("5.1", "6.0")
    other = f"ja-{'0' * 8}-0000-0000-0000-{'0' * 12}"
    with pytest.raises(port.glue.exceptions.EntityNotFoundException, match="no upgrade analysis"):
        port.glue.get_job_upgrade_analysis(jobName="analysed", analysisId=other)


def test_a_deployment_that_changes_a_job_to_auto_keeps_the_version_of_its_runs(port):
    def deploy(properties):
        def define(glue):
            with glue.store.transaction():
                _define(glue, ("stack", EntityKind.JOB, "deployed", properties), glue.now_ms())

        port.engine.ask(define)

    plain = {"Name": "deployed", "Role": "anyone", "Command": COMMAND}
    deploy({**plain, "GlueVersion": "5.1"})
    deploy({**plain, **AUTO})
    first = job(port, "deployed")["AutoUpgradeMetadata"]
    deploy({**plain, **AUTO})

    assert (first["SourceVersion"], first["TargetVersion"]) == ("5.1", "6.0")
    assert job(port, "deployed")["AutoUpgradeMetadata"] == first
    assert version_of_a_run(port, "deployed") == "5.1"


def test_the_sparks_that_a_run_needs_are_those_of_the_versions_in_the_home(port, tmp_path):
    jobs = {
        "pinned-here": {"Command": COMMAND, **AUTO},
        "new": {"Command": COMMAND, **AUTO},
        "named": {"Command": COMMAND, "GlueVersion": "5.0"},
        "shell": {
            "Command": {**COMMAND, "Name": "pythonshell", "PythonVersion": "3.9"},
            "GlueVersion": "3.0",
        },
    }
    script = {"ScriptLocation": "s3://scripts/a.py"}

    def app_of(*names):
        resources = {
            name: {
                "Type": "AWS::Glue::Job",
                "Properties": {
                    **jobs[name],
                    "Name": name,
                    "Role": "anyone",
                    "Command": {"Name": "glueetl", **jobs[name]["Command"], **script},
                },
            }
            for name in names
        }
        folder = tmp_path / "-".join(names)
        folder.mkdir()
        (folder / "manifest.json").write_text(json.dumps({"version": "48.0.0", "artifacts": STACK}))
        (folder / "s.template.json").write_text(json.dumps({"Resources": resources}))
        return load_app(folder)

    port.glue.create_job(Name="pinned-here", Role="anyone", Command=COMMAND, GlueVersion="5.1")

    assert versions_of_runs(app_of("pinned-here"), port.home) == {"5.1"}
    assert versions_of_runs(app_of("new", "named", "shell"), port.home) == {"6.0", "5.0"}
