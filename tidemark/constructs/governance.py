"""Settings for a whole stage: tags, the permissions boundary, protection of its stacks."""

from weakref import WeakKeyDictionary

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from tidemark.model.stage.config import StageConfig

_GOVERNED: WeakKeyDictionary[IConstruct, StageConfig] = WeakKeyDictionary()


def apply_to_all(scope: Construct, stage: StageConfig) -> None:
    """Tag everything below a construct, and bound its roles, by the settings of the stage.

    Every construct that takes a stage calls this; inside another one that did, it does nothing.
    """
    if any(_GOVERNED.get(owner) == stage for owner in scope.node.scopes):
        return
    _GOVERNED[scope] = stage
    cdk.Tags.of(scope).add("tidemark:stage", stage.name)
    for name, value in stage.tags.items():
        # Every service accepts a tag without a value, except the group of a schedule.
        but = [] if value else ["AWS::Scheduler::ScheduleGroup"]
        cdk.Tags.of(scope).add(name, value, exclude_resource_types=but)
    if stage.permissions_boundary:
        boundary = iam.ManagedPolicy.from_managed_policy_name(
            scope, "PermissionsBoundary", stage.permissions_boundary
        )
        iam.PermissionsBoundary.of(scope).apply(boundary)


def protect_stack(scope: Construct, stage: StageConfig) -> None:
    """Make CloudFormation refuse to delete the stack of `scope` if the stage says so."""
    stack = cdk.Stack.of(scope)
    while stack.nested_stack_parent is not None:
        stack = stack.nested_stack_parent
    if stage.termination_protection:
        stack.termination_protection = True
