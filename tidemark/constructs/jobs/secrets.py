"""The secrets of a job: by name, by ARN, or as constructs of the app."""

import re
from collections.abc import Sequence
from typing import TypeAlias

import aws_cdk as cdk
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from tidemark.constructs.jobs.permissions import Statement, allow
from tidemark.constructs.shared_checks import check_here
from tidemark.errors import JobDefinitionError

Secret: TypeAlias = str | secretsmanager.ISecret
# The rules of Secrets Manager; an ARN ends in six random characters.
NAME = re.compile(r"[\w/+=.@-]{1,512}", re.ASCII)
ARN = re.compile(
    r"arn:aws[\w-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]{1,512}-[A-Za-z0-9]{6}",
    re.ASCII,
)
ALLOWED = (
    "each the name of a secret in Secrets Manager, its whole ARN with the six characters at the "
    "end, or a Secret of the app"
)


def is_secret(value: Secret) -> bool:
    """Return whether a value names a secret, as far as known before a deployment."""
    if not isinstance(value, str):
        return True
    is_late = bool(value) and cdk.Token.is_unresolved(value)
    return is_late or bool(NAME.fullmatch(value) or ARN.fullmatch(value))


def check_secrets(job: str, secrets: Sequence[Secret]) -> None:
    """Raise unless a policy can name the secrets that a job declares in `secrets`.

    Raises:
        JobDefinitionError: a value is not a secret.
    """
    for secret in secrets:
        if not is_secret(secret):
            raise JobDefinitionError(
                f"job '{job}' has {secret!r} in secrets; allowed: {ALLOWED}; correct it"
            )


def warn_of_secrets(scope: Construct, job: str, secrets: Sequence[Secret]) -> None:
    """Warn of secrets of other accounts and regions, which need more than a permission."""
    for secret in secrets:
        arn = secret if isinstance(secret, str) else secret.secret_arn
        try:
            check_here(f"job '{job}'", cdk.Stack.of(scope), f"the secret {arn}", arn)
        except JobDefinitionError as error:
            cdk.Annotations.of(scope).add_warning_v2(
                "tidemark:secret-elsewhere",
                f"{str(error).partition('; allowed')[0]}; the script must ask there for it "
                "(region_name= of its client), and the policies of the secret and its key must let "
                "the role in; acknowledge this once they do",
            )


def read_secrets(stack: cdk.Stack, secrets: Sequence[Secret]) -> list[Statement]:
    """Return the permission to read secrets, if any."""
    arns = [_arn(stack, secret) for secret in secrets]
    return [allow(["secretsmanager:GetSecretValue"], arns)] if arns else []


def keep_tokens(stack: cdk.Stack, secrets: Sequence[Secret]) -> list[Statement]:
    """Return the permission to keep the tokens of an application in secrets, if any.

    Source: https://docs.aws.amazon.com/glue/latest/dg/salesforce-configuring-iam-permissions.html
    """
    arns = [_arn(stack, secret) for secret in secrets]
    actions = ["secretsmanager:DescribeSecret", "secretsmanager:PutSecretValue"]
    return [allow(actions, arns)] if arns else []


def _arn(stack: cdk.Stack, secret: Secret) -> str:
    """Return the ARN of a secret, with wildcards for an end that only Secrets Manager knows."""
    if not isinstance(secret, str):
        return secret.secret_full_arn or f"{secret.secret_arn}-??????"
    if ARN.fullmatch(secret) or _is_construct_arn(secret):
        return secret
    return stack.format_arn(
        service="secretsmanager",
        resource="secret",
        resource_name=f"{secret}-??????",
        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
    )


def _is_construct_arn(secret: str) -> bool:
    """Return whether a string is the ARN of a secret that the app creates."""
    if not cdk.Token.is_unresolved(secret):
        return False
    parts = cdk.Tokenization.reverse_string(secret)
    token = parts.first_token
    return (
        parts.length == 1
        and isinstance(token, cdk.Reference)
        and isinstance(token.target, secretsmanager.CfnSecret)
    )
