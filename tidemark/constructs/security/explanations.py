"""Reasons for what security checkers ask about.

Those for checkov are in the templates; those for cdk-nag are given where the app has it, by the
context key `tidemark:explain`.
"""

import aws_cdk as cdk
import jsii
from aws_cdk import aws_iam as iam
from constructs import Construct, IValidation

from tidemark.constructs.references import read_once

CONTEXT_KEY = "tidemark:explain"
RULE = "AwsSolutions::AwsSolutions-IAM5"
STANDARDS = ("HIPAA.Security", "NIST.800.53.R5", "PCI.DSS.321")
"""The packs of cdk-nag that share names of rules, beside AwsSolutions."""
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
WILDCARDS = (
    "No action has a wildcard. A resource has one below the prefixes that the job declares; in "
    "the names of its log groups, which end in the name of this role; where an action knows no "
    "resource (PutMetricData, bound to the namespace of Glue, GetDataAccess, bound to what Lake "
    "Formation grants, and the descriptions of EC2); in the functions of a database of which the "
    "job declares tables; and for the network interfaces that Glue makes for a connection, in the "
    "connection's subnet. A crawler makes tables whose names only a crawl knows, below its prefix, "
    "and lists the others of its database; Spark makes up names of its consumer groups of Kafka."
)


def skip_checkov(resource: cdk.Resource | cdk.CfnResource, **reasons: str) -> None:
    """Let checkov skip checks of a resource, check id to reason; changes its metadata only."""
    skipped = [{"id": check, "comment": reason} for check, reason in reasons.items()]
    child = resource if isinstance(resource, cdk.CfnResource) else resource.node.default_child
    assert isinstance(child, cdk.CfnResource)  # noqa: S101 (for the type checker)
    child.add_metadata("checkov", {"skip": skipped})


@read_once
def _asks_for_reasons(stack: cdk.Stack) -> bool:
    return bool(stack.node.try_get_context(CONTEXT_KEY))


def explain(resource: Construct, rule: str, reason: str) -> None:
    """Acknowledge a rule of AwsSolutions for a resource, where the context asks for reasons."""
    if resource.node.try_get_context(CONTEXT_KEY):
        acknowledgment = cdk.Acknowledgment(id=f"AwsSolutions::{rule}", reason=reason)
        cdk.Validations.of(resource).acknowledge(acknowledgment)


def explain_to_standards(stack: cdk.Stack, resource: Construct, **reasons: str) -> None:
    """Acknowledge rules of the standards for a resource, where the context asks for reasons.

    Args:
        stack: the stack of the resource.
        resource: whose findings are explained.
        reasons: name of a rule without that of its pack, to reason.
    """
    if _asks_for_reasons(stack):
        ids = {f"{p}::{p}-{rule}": reason for p in STANDARDS for rule, reason in reasons.items()}
        rules = [cdk.Acknowledgment(id=id_, reason=reason) for id_, reason in ids.items()]
        cdk.Validations.of(resource).acknowledge(*rules)


def explain_wildcards(stack: cdk.Stack, owner: Construct, document: iam.PolicyDocument) -> None:
    """Acknowledge cdk-nag's findings about wildcards in a job's role, or a policy of it.

    An acknowledgement names the resource as the template spells it, which is known after the
    references between stacks are resolved: in the validation of the tree. It costs time, hence
    only where the context asks for it. tests/infra checks that there are no other wildcards.
    """
    if _asks_for_reasons(stack):
        owner.node.add_validation(_Explanation(owner, document))


@jsii.implements(IValidation)
class _Explanation:
    def __init__(self, owner: Construct, document: iam.PolicyDocument) -> None:
        self._owner = owner
        self._document = document

    def validate(self) -> list[str]:
        """Acknowledge, and find nothing wrong."""
        resolved = cdk.Stack.of(self._owner).resolve(self._document)
        resources = [
            resource
            for statement in resolved["Statement"]
            for resource in _as_list(statement["Resource"])
        ]
        ids = {f"{RULE}[Resource::{text}]" for text in map(_text, resources) if "*" in text}
        rules = [cdk.Acknowledgment(id=id_, reason=WILDCARDS) for id_ in sorted(ids)]
        cdk.Validations.of(self._owner).acknowledge(*rules)
        return []


def _text(value: object) -> str:
    """Return an intrinsic as cdk-nag writes it."""
    match value:
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(_text, parts))
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [id_, attribute]}:
            return f"<{id_}.{attribute}>"
        case {"Fn::ImportValue": export}:
            return str(export)
    return str(value)


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]
