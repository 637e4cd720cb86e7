"""Reasons for security checkers.

Reasons for checkov are in the templates; reasons for cdk-nag are given if the app sets the
context key `tidemark:explain`.
"""

import aws_cdk as cdk
import jsii
from aws_cdk import aws_iam as iam
from constructs import Construct, IValidation

from tidemark.constructs.references import read_once
from tidemark.constructs.security.wildcards import reasons_of

CONTEXT_KEY = "tidemark:explain"
RULE = "AwsSolutions::AwsSolutions-IAM5"
# The packs of cdk-nag that share names of rules, in addition to AwsSolutions.
STANDARDS = ("HIPAA.Security", "NIST.800.53.R5", "PCI.DSS.321")
NOT_IN_PACK = {("PCI.DSS.321", "DynamoDBInBackupPlan")}
EXISTING = (
    "The security configuration is not of this app: ExistingSecurity is for one that encrypts logs "
    "with SSE-KMS and bookmarks with CSE-KMS."
)
# Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_managed-vs-inline.html
INLINE = (
    "The policy is of this one role: it follows from what is declared, is reviewed as a difference "
    "of the template and goes with the role. An inline policy can be attached to no one else, "
    "which is what AWS has it for; a managed one could be."
)


def skip_checkov(resource: cdk.Resource | cdk.CfnResource, **reasons: str) -> None:
    """Skip checks of checkov for a resource, check id to reason; changes its metadata only."""
    skipped = [{"id": check, "comment": reason} for check, reason in reasons.items()]
    _itself(resource).add_metadata("checkov", {"skip": skipped})


@read_once
def _asks_for_reasons(stack: cdk.Stack) -> bool:
    return bool(stack.node.try_get_context(CONTEXT_KEY))


def _itself(resource: Construct) -> cdk.CfnResource:
    """Return the one resource of a construct, without others below it in the tree."""
    child = resource if isinstance(resource, cdk.CfnResource) else resource.node.default_child
    assert isinstance(child, cdk.CfnResource)  # noqa: S101 (for the type checker)
    return child


def explain(resource: Construct, rule: str, reason: str) -> None:
    """Acknowledge a rule of AwsSolutions for a resource, if the context asks for reasons."""
    if resource.node.try_get_context(CONTEXT_KEY):
        acknowledgment = cdk.Acknowledgment(id=f"AwsSolutions::{rule}", reason=reason)
        cdk.Validations.of(_itself(resource)).acknowledge(acknowledgment)


def explain_to_standards(stack: cdk.Stack, resource: Construct, **reasons: str) -> None:
    """Acknowledge rules of the standards for a resource, if the context asks for reasons.

    Args:
        stack: the stack of the resource.
        resource: the resource with the findings.
        reasons: name of a rule without that of its pack, to reason.
    """
    if _asks_for_reasons(stack):
        rules = [
            cdk.Acknowledgment(id=f"{pack}::{pack}-{rule}", reason=reason)
            for pack in STANDARDS
            for rule, reason in reasons.items()
            if (pack, rule) not in NOT_IN_PACK
        ]
        cdk.Validations.of(_itself(resource)).acknowledge(*rules)


def explain_wildcards(stack: cdk.Stack, owner: Construct, document: iam.PolicyDocument) -> None:
    """Acknowledge cdk-nag's findings about wildcards in a job's role, or a policy of it.

    The document counts, even if others added to it: a resource is not acknowledged if the document
    allows an action on it that has no reason.
    """
    # An acknowledgement names the resource as the template spells it, which is known after the
    # references between stacks are resolved: in the validation of the tree. It takes time.
    if _asks_for_reasons(stack):
        owner.node.add_validation(_Explanation(owner, document))


@jsii.implements(IValidation)
class _Explanation:
    def __init__(self, owner: Construct, document: iam.PolicyDocument) -> None:
        self._owner = owner
        self._document = document

    def validate(self) -> list[str]:
        """Acknowledge, and find nothing wrong."""
        reasons = reasons_of(cdk.Stack.of(self._owner).resolve(self._document))
        rules = [
            cdk.Acknowledgment(id=f"{RULE}[Resource::{resource}]", reason=reason)
            for resource, reason in reasons.items()
        ]
        cdk.Validations.of(_itself(self._owner)).acknowledge(*rules)
        return []
