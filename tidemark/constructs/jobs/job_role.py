"""The role of a Glue job, with as many policies as its permissions need."""

from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from constructs import Construct

from tidemark.constructs.jobs.permissions import Statement
from tidemark.constructs.jobs.policies import MOST_POLICIES, fit
from tidemark.constructs.security.explanations import explain_wildcards
from tidemark.errors import JobDefinitionError


def make_role(scope: Construct, job: str, statements: Sequence[Statement]) -> iam.Role:
    """Return a role that Glue assumes and that allows what statements say.

    Args:
        scope: the construct that owns the role and its policies.
        job: name of the Glue job, for the descriptions.
        statements: of an inline policy, and of managed ones where it has no room for all.

    Raises:
        JobDefinitionError: they are more than IAM attaches to a role.
    """
    inline, further = fit(statements)
    if len(further) > MOST_POLICIES:
        raise JobDefinitionError(
            f"job '{job}' needs {len(further)} managed policies beside its own for what it reads, "
            f"writes and uses; IAM attaches {MOST_POLICIES} to a role; declare a folder that holds "
            "many of the datasets instead of each, or split the job"
        )
    policies = [
        iam.ManagedPolicy(
            scope,
            f"Policy{number}",
            description=f"What else the Glue job {job} may do, part {number}",
            document=_document(part),
        )
        for number, part in enumerate(further, start=1)
    ]
    document = _document(inline)
    role = iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("glue.amazonaws.com"),
        description=f"What the Glue job {job} may do",
        inline_policies={"job": document},
        managed_policies=policies or None,
    )
    explain_wildcards(role, document)
    for policy in policies:
        explain_wildcards(policy, policy.document)
    return role


def _document(statements: Sequence[Statement]) -> iam.PolicyDocument:
    return iam.PolicyDocument.from_json({"Statement": list(statements)})
