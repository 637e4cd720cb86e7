"""The stage of docs/bank-checklist.md is one that synthesizes, and holds what the page says."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.fixtures.pipelines import Declared
from tests.pages import Page
from tidemark.errors import JobDefinitionError
from tidemark.model.stage.config import StageConfig
from tidemark.model.stage.settings import camel_case

pytestmark = pytest.mark.synth
PAGE = Page("docs/bank-checklist.md")


@pytest.fixture(scope="module")
def stage() -> StageConfig:
    stages = {"prod": json.loads(PAGE.blocks["stage"])}
    return StageConfig.from_context({"stage": "prod", "tidemark:stages": stages})


@pytest.fixture
def declared(cdk: Any, tmp_path: Any) -> Declared:
    return Declared(cdk, tmp_path, account="111122223333")


def test_every_setting_that_the_page_names_is_one(stage: StageConfig) -> None:
    known = {camel_case(name) for name in vars(stage)}
    named = set(re.findall(r"`([a-z]+[A-Z][A-Za-z]*)`", PAGE.text))

    assert named
    assert named <= known


def test_a_stage_of_a_bank_bounds_every_role_and_puts_every_job_into_the_network(
    declared: Declared, stage: StageConfig
) -> None:
    declared.add(declared.pipeline(stage=stage))

    roles = declared.resources("AWS::IAM::Role")
    assert roles
    assert all("policy/acme/glue-boundary" in str(r["PermissionsBoundary"]) for r in roles)
    (job,) = declared.resources("AWS::Glue::Job")
    assert job["Connections"] == {"Connections": ["acme-office"]}
    assert {g["RetentionInDays"] for g in declared.resources("AWS::Logs::LogGroup")} == {3653}


@pytest.mark.parametrize(
    "forbidden",
    [{"connections": []}, {"python_modules": ["pyarrow==21.0.0"]}],
    ids=["outside the network", "from the internet"],
)
def test_what_a_bank_forbids_is_refused(
    declared: Declared, stage: StageConfig, forbidden: dict[str, Any]
) -> None:
    with pytest.raises(JobDefinitionError, match="the stage"):
        declared.add(declared.pipeline(stage=stage), **forbidden)


def test_roles_of_the_security_team_leave_the_app_with_none(
    declared: Declared, stage: StageConfig
) -> None:
    from aws_cdk import aws_iam as iam

    arn = "arn:aws:iam::111122223333:role/acme-etl"
    role = iam.Role.from_role_arn(declared.stack, "Role", arn, mutable=False)
    declared.add(declared.pipeline(stage=stage), role=role)

    assert declared.resources("AWS::IAM::Role") == []
    assert declared.resources("AWS::IAM::Policy") == []
