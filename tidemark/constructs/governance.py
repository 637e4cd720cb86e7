"""What holds for all of a stage: tags, the permissions boundary, protection of its stacks."""

from weakref import WeakKeyDictionary

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from tidemark.model.stage.config import StageConfig

_GOVERNED: WeakKeyDictionary[IConstruct, StageConfig] = WeakKeyDictionary()


def apply_to_all(scope: Construct, stage: StageConfig) -> None:
    """Tag everything below a construct, and bound its roles, as the stage says.

    Every construct that takes a stage does so itself; where an outer one has, nothing is done.
    """
    if any(_GOVERNED.get(owner) == stage for owner in scope.node.scopes):
        return
    _GOVERNED[scope] = stage
    cdk.Tags.of(scope).add("tidemark:stage", stage.name)
    for name, value in stage.tags.items():
        # Every service takes a tag without a value, but the group of a schedule.
        but = [] if value else ["AWS::Scheduler::ScheduleGroup"]
        cdk.Tags.of(scope).add(name, value, exclude_resource_types=but)
    if stage.permissions_boundary:
        boundary = iam.ManagedPolicy.from_managed_policy_name(
            scope, "PermissionsBoundary", stage.permissions_boundary
        )
        iam.PermissionsBoundary.of(scope).apply(boundary)


def protect_stack(scope: Construct, stage: StageConfig) -> None:
    """Let CloudFormation refuse to delete the stack of `scope` if the stage says so."""
    stack = cdk.Stack.of(scope)
    while stack.nested_stack_parent is not None:
        stack = stack.nested_stack_parent
    if stage.termination_protection:
        stack.termination_protection = True
