"""The role of a Glue job: a new one, or a given one with added permissions."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from weakref import WeakKeyDictionary

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from tidemark.constructs.jobs.permissions import Statement
from tidemark.constructs.jobs.policies import MAX_INLINE, MAX_POLICIES, fit, size
from tidemark.constructs.security.explanations import (
    INLINE,
    explain_to_standards,
    explain_wildcards,
)
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.resources import MISSING_GRANTS

GLUE = "glue.amazonaws.com"
_GIVEN: WeakKeyDictionary[iam.IRole, list[Statement]] = WeakKeyDictionary()  # grants by jobs


@dataclass(frozen=True)
class JobRole:
    """The role that a job runs with.

    Attributes:
        role: the role.
        missing: permissions that the job needs and the app cannot grant to the role.
        policies: policies that must exist before the job runs.
    """

    role: iam.IRole
    missing: tuple[Statement, ...] = ()
    policies: tuple[IDependable, ...] = ()

    def attach(self, resource: cdk.CfnResource) -> None:
        """Note at a job or crawler what its role lacks, and let it wait for its policies."""
        if self.missing:
            resource.add_metadata(MISSING_GRANTS, list(self.missing))
        if self.policies:
            resource.node.add_dependency(*self.policies)


def role_of(
    scope: Construct,
    job: str,
    statements: Sequence[Statement],
    given: iam.IRole | None,
    stack: cdk.Stack,
    of: str = "job",
) -> JobRole:
    """Return a role for a job: a new one, or the given one with the missing permissions.

    Args:
        scope: the construct that owns the role and its policies.
        job: name of the Glue job.
        statements: permissions that the job needs.
        given: a role of the app, which gets another policy; an imported one, which gets it if
            it belongs to the stack's account and may be changed; or None.
        stack: the stack of the scope.
        of: `job` or `crawler`.

    Raises:
        JobDefinitionError: IAM cannot attach that many statements, or Glue cannot assume the role.
    """
    if given is None:
        return JobRole(make_role(scope, job, statements, stack, of))
    check_role(stack, job, given, of)
    own = map(iam.PolicyStatement.from_json, statements)
    granted = [given.add_to_principal_policy(statement) for statement in own]
    policies = [grant.policy_dependable for grant in granted if grant.policy_dependable is not None]
    if isinstance(given, iam.Role):
        policy = given.node.try_find_child("DefaultPolicy")
    else:  # a role that CDK must not change reports success, and names no policy
        policy = next((policy for policy in policies if isinstance(policy, iam.Policy)), None)
    if not isinstance(policy, iam.Policy):
        cdk.Annotations.of(scope).add_warning_v2(
            "tidemark:missing-grants",
            f"the role {given.role_name} of the {of} {job} is imported and not changed: `tidemark "
            f"grants {job}` prints the policy that it needs, and with --trust whom it must trust; "
            "acknowledge this once it has both",
        )
        return JobRole(given, missing=tuple(statements))
    together = _GIVEN.setdefault(given, [])
    together += [statement for statement in statements if statement not in together]
    if size(together) > MAX_INLINE:
        raise JobDefinitionError(
            f"{of} '{job}' makes the policy of its role {size(together)} characters long; IAM "
            f"takes {MAX_INLINE} for all inline policies of a role; give the {of} a role of its "
            "own, or leave role= out"
        )
    explain_wildcards(stack, policy, policy.document)
    explain_to_standards(stack, policy, IAMNoInlinePolicy=INLINE)
    return JobRole(given, policies=(policy,))


def check_role(stack: cdk.Stack, job: str, role: iam.IRole, of: str = "job") -> None:
    """Raise unless Glue can run a job with a role, as far as known here.

    Raises:
        JobDefinitionError: it is of another account, or does not trust Glue.
    """
    arn = stack.split_arn(role.role_arn, cdk.ArnFormat.SLASH_RESOURCE_NAME)
    is_known = not cdk.Token.is_unresolved(role.role_arn)
    if is_known and (arn.service, arn.resource) != ("iam", "role"):
        raise JobDefinitionError(
            f"{of} '{job}' has a role with the ARN {role.role_arn!r}; allowed: "
            "arn:aws:iam::ACCOUNT:role/NAME; correct role="
        )
    account = arn.account
    known = account and not any(map(cdk.Token.is_unresolved, (account, stack.account)))
    if known and account != stack.account:
        # iam:PassRole ends at the account: IAM passes no role to a service of another account.
        raise JobDefinitionError(
            f"{of} '{job}' has a role of the account {account}, and Glue runs a {of} of the "
            f"account {stack.account} with a role of that account only; use one there, and let it "
            "assume the other"
        )
    if isinstance(role, iam.Role) and role.assume_role_policy is not None:
        trust = json.dumps(stack.resolve(role.assume_role_policy))
        if GLUE not in trust:
            raise JobDefinitionError(
                f"{of} '{job}' has a role that does not trust Glue; allowed: assumed_by="
                f"iam.ServicePrincipal({GLUE!r}); correct the role"
            )


def make_role(
    scope: Construct, job: str, statements: Sequence[Statement], stack: cdk.Stack, of: str = "job"
) -> iam.Role:
    """Return a new role that Glue assumes, with the permissions in statements.

    Args:
        scope: the construct that owns the role and its policies.
        job: its name, for the descriptions.
        statements: for an inline policy, and for managed ones if it has no room for all.
        stack: the stack of the scope.
        of: `job` or `crawler`.

    Raises:
        JobDefinitionError: IAM cannot attach that many statements to a role.
    """
    inline, further = fit(statements)
    if len(further) > MAX_POLICIES:
        raise JobDefinitionError(
            f"{of} '{job}' needs {len(further)} managed policies besides its own for what it "
            f"reads, writes and uses; IAM attaches {MAX_POLICIES} to a role; declare a folder with "
            f"many of the datasets instead of each, or split the {of}"
        )
    policies = [
        iam.ManagedPolicy(
            scope,
            f"Policy{number}",
            description=f"What else the Glue {of} {job} may do, part {number}",
            document=_document(part),
        )
        for number, part in enumerate(further, start=1)
    ]
    document = _document(inline)
    role = iam.Role(
        scope,
        "Role",
        assumed_by=_glue(),
        description=f"What the Glue {of} {job} may do",
        inline_policies={"job": document},
        managed_policies=policies or None,
    )
    explain_wildcards(stack, role, document)
    explain_to_standards(stack, role, IAMNoInlinePolicy=INLINE)
    for policy in policies:
        explain_wildcards(stack, policy, policy.document)
    return role


@cache
def _glue() -> iam.ServicePrincipal:
    return iam.ServicePrincipal(GLUE)


def _document(statements: Sequence[Statement]) -> iam.PolicyDocument:
    return iam.PolicyDocument.from_json({"Statement": list(statements)})
