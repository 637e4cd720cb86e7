"""Refuses aliases, places and scopes that do not fit, for every construct."""

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from constructs import Construct

from tidemark.errors import JobDefinitionError
from tidemark.model.stage.config import StageConfig

NO_ALIAS = "the key itself, such as kms.Key.from_lookup(...), not an alias of it"


def check_stage_is_here(of: str, stack: cdk.Stack, stage: StageConfig) -> None:
    """Raise if a stage names another account or region than that of its stack.

    Raises:
        JobDefinitionError: it does.
    """
    what = f"the stage '{stage.name}'"
    for kind, here, there in (
        ("account", stack.account, stage.account),
        ("region", stack.region, stage.region),
    ):
        known = there is not None and not cdk.Token.is_unresolved(here)
        if known and here != there:
            raise JobDefinitionError(
                f"{of} has {what}, which is in the {kind} {there}, and its stack is in {here}; "
                f"allowed: one {kind}; pass env=cdk.Environment(account=stage.account, "
                "region=stage.region) to the stack, or another stage"
            )


def check_no_alias(of: str, key: kms.IKey | None, name: str = "key") -> None:
    """Raise if a KMS key is an alias.

    Args:
        of: the owner of the key, at the start of an error.
        key: the key; may be None.
        name: name of the parameter.

    Raises:
        JobDefinitionError: policies of IAM and log groups must name keys; statements about an
            alias have no effect.
    """
    if key is None:
        return
    if hasattr(key, "alias_name") or "alias/" in str(key.key_arn):
        raise JobDefinitionError(
            f"{of} has {name} {str(key.key_arn)!r}; allowed: {NO_ALIAS}; correct {name}="
        )


def check_region(of: str, stack: cdk.Stack, name: str, region: str) -> None:
    """Raise if something is known to be in another region than the stack that uses it.

    Raises:
        JobDefinitionError: it is.
    """
    _check_place(of, "region", stack.region, name, region)


def check_account(of: str, stack: cdk.Stack, name: str, account: str) -> None:
    """Raise if something is known to be in another account than the stack that uses it.

    Raises:
        JobDefinitionError: it is.
    """
    _check_place(of, "account", stack.account, name, account)


def check_free(scope: Construct, id_: str, of: str) -> None:
    """Raise unless a scope is in a stack, and the id of a construct is free.

    Raises:
        JobDefinitionError: it is not in a stack, or the id is taken.
    """
    if not id_:
        raise JobDefinitionError(f"{of} has the construct id {id_!r}; allowed: a string; pass one")
    if not any(isinstance(owner, cdk.Stack) for owner in scope.node.scopes):
        raise JobDefinitionError(
            f"{of} has the scope '{scope.node.path or 'the app'}', which is in no stack; allowed: "
            "a stack, or a construct in one; pass one"
        )
    if scope.node.try_find_child(id_):
        raise JobDefinitionError(
            f"{of} would have the construct id {id_!r}, which '{scope.node.path}' "
            "uses for something else; give it another id"
        )


def _check_place(of: str, kind: str, here: str, name: str, there: str) -> None:
    known = not any(map(cdk.Token.is_unresolved, (here, there)))
    if known and here != there:
        raise JobDefinitionError(
            f"{of} has {name} in the {kind} {there}; allowed: {here}, where the stack is; pass one "
            "from there"
        )
