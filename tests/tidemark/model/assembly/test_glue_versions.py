"""The version of Glue that a run of a job has."""

import pytest

from tidemark.model.assembly.glue_versions import version_of_job

UPGRADE = {"SourceVersion": "5.1", "TargetVersion": "6.0"}


@pytest.mark.parametrize(
    ("stated", "version"),
    [
        ({}, "6.0"),
        ({"GlueVersion": "5.0"}, "5.0"),
        ({"GlueVersion": "auto"}, "6.0"),
        ({"GlueVersion": "auto", "AutoUpgradeMetadata": None}, "6.0"),
    ],
)
def test_a_run_never_has_the_version_auto(stated, version):
    assert version_of_job(stated) == version


@pytest.mark.parametrize(
    ("status", "version"),
    [
        ("OBSERVING", "5.1"),
        ("WAITING_FOR_CONSENT", "5.1"),
        ("UPGRADING", "6.0"),
        ("UPGRADE_SUCCEEDED", "6.0"),
        ("UPGRADE_FAILED", "5.1"),
        ("STOPPED", "5.1"),
    ],
)
def test_a_job_runs_on_its_old_version_until_it_is_upgraded(status, version):
    upgraded = {"GlueVersion": "auto", "AutoUpgradeMetadata": {**UPGRADE, "Status": status}}

    assert version_of_job(upgraded) == version
