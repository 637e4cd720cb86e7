"""What the workflows of GitHub may do with the roles of the stack `tidemark-dev-github`.

MiniStack decides by the trust policy of a role and by the claims of the token; it does not check
who signed the token.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.deploy.cloud import Cloud
from tests.deploy.conftest import GITHUB
from tests.deploy.story import STACKS, Step, Terminal, variables_of

Assume = Callable[..., Mapping[str, str]]
REPOSITORY = "repo:acme/pipelines"


def token(**claims: str) -> str:
    """Return a web token with these claims."""
    parts = ({"alg": "RS256", "typ": "JWT"}, {"iss": f"https://{GITHUB}", **claims})
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts]
    return ".".join([*(part.rstrip("=") for part in encoded), "signature"])


@pytest.fixture
def assume(trusted: Step, cloud: Cloud) -> Assume:
    """Return a function: output with a role, and subject of a token, to credentials."""
    stacks = cloud.client("cloudformation").describe_stacks(StackName="tidemark-dev-github")
    arns = {it["OutputKey"]: it["OutputValue"] for it in stacks["Stacks"][0]["Outputs"]}

    def assume(output: str, sub: str, aud: str = "sts.amazonaws.com") -> Mapping[str, str]:
        return dict(
            cloud.client("sts").assume_role_with_web_identity(
                RoleArn=arns[output],
                RoleSessionName="workflow",
                WebIdentityToken=token(sub=sub, aud=aud),
            )["Credentials"]
        )

    return assume


def test_the_roles_are_deployed(trusted: Step) -> None:
    assert trusted.status == 0, trusted.said
    assert "tidemark-dev-github.DeployRoleArn" in trusted.said


@pytest.mark.parametrize(
    ("output", "sub", "aud"),
    [
        ("DeployRoleArn", f"{REPOSITORY}:pull_request", "sts.amazonaws.com"),
        ("DeployRoleArn", f"{REPOSITORY}:environment:prod", "sts.amazonaws.com"),
        ("DeployRoleArn", f"{REPOSITORY}:ref:refs/heads/main", "sts.amazonaws.com"),
        ("DeployRoleArn", "repo:mallory/pipelines:environment:dev", "sts.amazonaws.com"),
        ("DeployRoleArn", f"{REPOSITORY}:environment:dev", "https://github.com/mallory"),
        ("DiffRoleArn", "repo:mallory/pipelines:pull_request", "sts.amazonaws.com"),
        ("DiffRoleArn", f"{REPOSITORY}:environment:dev", "sts.amazonaws.com"),
    ],
)
def test_another_workflow_cannot_assume_a_role(
    assume: Assume, output: str, sub: str, aud: str
) -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        assume(output, sub, aud)


def test_a_job_of_the_environment_deploys(
    assume: Assume, terminal: Terminal, from_github: Path
) -> None:
    credentials = assume("DeployRoleArn", f"{REPOSITORY}:environment:dev")

    done = terminal.run("make deploy STAGE=dev", from_github, variables_of(credentials))

    assert done.status == 0, done.said
    assert done.said.count("(no changes)") == len(STACKS) + 1


def test_a_pull_request_shows_the_difference_and_cannot_deploy_it(
    assume: Assume, cloud: Cloud, terminal: Terminal, from_github: Path, with_a_job_more: Path
) -> None:
    credentials = assume("DiffRoleArn", f"{REPOSITORY}:pull_request")

    same = terminal.run("make diff STAGE=dev", from_github, variables_of(credentials))
    different = terminal.run("make diff STAGE=dev", with_a_job_more, variables_of(credentials))
    refused = terminal.run("make deploy STAGE=dev", with_a_job_more, variables_of(credentials))

    assert same.status == different.status == 0, same.said + different.said
    assert "[+] AWS::Glue::Job" in different.said
    assert "Could not assume role" not in same.said
    assert refused.status != 0
    assert refused.events == {stack: [] for stack in STACKS}
    name = f"cdk-hnb659fds-deploy-role-{cloud.account}-{cloud.region}"
    with pytest.raises(ClientError, match="AccessDenied"):
        cloud.as_somebody(credentials)("sts").assume_role(
            RoleArn=f"arn:aws:iam::{cloud.account}:role/{name}", RoleSessionName="deploy"
        )
