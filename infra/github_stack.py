"""Roles for GitHub Actions: short-lived credentials by OpenID Connect, no key to keep.

Source: https://docs.github.com/actions/how-tos/secure-your-work/security-harden-deployments/oidc-in-aws
"""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from tidemark.constructs import StageConfig
from tidemark.constructs.security.explanations import INLINE, explain_to_standards

ISSUER = "token.actions.githubusercontent.com"
AUDIENCE = "sts.amazonaws.com"
# The roles of `cdk bootstrap`, which do the work.
DEPLOYING = ("deploy-role", "file-publishing-role", "lookup-role")
COMPARING = ("lookup-role",)


class GithubStack(cdk.Stack):
    """Creates the two roles that the workflows of a GitHub repository assume.

    The deploying role is for jobs of the GitHub environment named like the stage, which a person
    approves; the comparing one is for pull requests, whose code no one has approved yet, so it can
    read and no more. Neither may do more than assume roles of the CDK's bootstrap stack.

    GitHub's identity provider belongs to the account, not to a stage: there can be one only, and
    other repositories use it too. It is expected to be there, and stays when the stack goes.
    """

    def __init__(
        self, scope: Construct, id_: str, *, stage: StageConfig, env: cdk.Environment
    ) -> None:
        """Declare them.

        Args:
            scope: the app.
            id_: stack name.
            stage: names the repository, and with its own name the GitHub environment.
            env: account and region.
        """
        super().__init__(
            scope, id_, env=env, description=f"Tidemark {stage.name}: roles for GitHub Actions"
        )
        subject = f"repo:{stage.github_repository}"
        self._role("Deploy", f"{subject}:environment:{stage.name}", DEPLOYING)
        self._role("Diff", f"{subject}:pull_request", COMPARING)

    def _role(self, id_: str, subject: str, bootstrap: tuple[str, ...]) -> None:
        """Create a role and put its ARN into the stack's outputs."""
        qualifier = cdk.DefaultStackSynthesizer.DEFAULT_QUALIFIER
        arns = [
            self._iam_arn("role", f"cdk-{qualifier}-{name}-{self.account}-{self.region}")
            for name in bootstrap
        ]
        role = iam.Role(
            self,
            id_,
            assumed_by=iam.FederatedPrincipal(  # pyright: ignore[reportArgumentType] (of jsii)
                self._iam_arn("oidc-provider", ISSUER),
                {"StringEquals": {f"{ISSUER}:aud": AUDIENCE, f"{ISSUER}:sub": subject}},
                "sts:AssumeRoleWithWebIdentity",
            ),
            max_session_duration=cdk.Duration.hours(1),
            inline_policies={
                "cdk": iam.PolicyDocument(
                    statements=[iam.PolicyStatement(actions=["sts:AssumeRole"], resources=arns)]
                )
            },
        )
        explain_to_standards(self, role, IAMNoInlinePolicy=INLINE)
        cdk.CfnOutput(self, f"{id_}RoleArn", value=role.role_arn)

    def _iam_arn(self, resource: str, name: str) -> str:
        return self.format_arn(service="iam", region="", resource=resource, resource_name=name)
