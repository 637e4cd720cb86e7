"""Refuses aliases, places and scopes that do not fit, for every construct."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from constructs import Construct, IConstruct

from tidemark.constructs.references import read_once
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.grants import partition_of
from tidemark.model.stage.config import StageConfig

PLACES = ("partition", "region", "account")
KEY_PLACES = ("partition", "region")  # of what another account may share: keys, tables by ARN
MAX_FILE_CHARACTERS = 255  # of a file's name, the limit of file systems
COLONS = 5  # before the name of the resource in an ARN
# The attribute of a construct with its ARN.
KINDS = ("bucket", "connection", "database", "key", "queue", "secret", "table", "topic")
ARNS = tuple(f"{kind}_arn" for kind in KINDS)

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


def check_here(
    of: str, stack: cdk.Stack, name: str, used: object, kinds: Sequence[str] = PLACES
) -> None:
    """Raise if something is known to be elsewhere than the stack that uses it.

    Args:
        of: who uses it, at the start of an error.
        stack: the stack.
        name: what it is, for the error.
        used: a resource of the app, an imported one, or an ARN; of a name nothing is known.
        kinds: what must be the same: of `partition`, `region` and `account`.

    Raises:
        JobDefinitionError: it is elsewhere.
    """
    if isinstance(used, cdk.CfnElement) and used.stack is stack:
        return
    here = _place_of_stack(stack)
    places = _of_arn(used) if isinstance(used, str) else _place_of(cast(IConstruct, used))
    for kind, there in places:
        if kind in kinds and there and here.get(kind, there) != there:
            raise JobDefinitionError(
                f"{of} has {name} in the {kind} {there}; allowed: {here[kind]}, where the stack "
                "is; pass one from there"
            )


def check_catalog(of: str, stack: cdk.Stack, name: str, catalog: str) -> None:
    """Raise if something is known to be in another Data Catalog than the account's own.

    Raises:
        JobDefinitionError: it is.
    """
    is_known = not any(map(cdk.Token.is_unresolved, (catalog, stack.account)))
    if is_known and catalog != stack.account:
        raise JobDefinitionError(
            f"{of} has {name} of the catalog {catalog!r}; allowed: those of the account's own "
            "catalog; leave its catalog out"
        )


@read_once
def _place_of_stack(stack: cdk.Stack) -> dict[str, str]:
    """Return where a stack is, as far as known: the name of each kind of place."""
    known = dict(_known(("region", stack.region), ("account", stack.account)))
    return {**known, "partition": partition_of(known["region"])} if "region" in known else known


@read_once
def _place_of(resource: IConstruct) -> tuple[tuple[str, str], ...]:
    """Return where a resource is, as far as known: each kind of place, and its name."""
    if isinstance(resource, cdk.CfnElement):
        own = resource.stack
        return _known(("region", own.region), ("account", own.account))
    env = cast("cdk.IResource", resource).env
    arn = next((str(getattr(resource, key)) for key in ARNS if hasattr(resource, key)), "")
    # The env of an imported table or database is that of its stack, whatever its ARN says.
    return _known(*_of_arn(arn), ("region", env.region), ("account", env.account))


def _known(*places: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(place for place in places if not cdk.Token.is_unresolved(place[1]))


def _of_arn(arn: str) -> tuple[tuple[str, str], ...]:
    """Return where an ARN says that a resource is; empty if it is not an ARN, or has tokens.

    >>> _of_arn("arn:aws-cn:s3:::lake")
    (('partition', 'aws-cn'), ('region', ''), ('account', ''))
    """
    # The parts of a token may have colons of their own.
    if not arn.startswith("arn:") or arn.count(":") < COLONS or "${" in arn:
        return ()
    _, partition, _, region, account, _ = arn.split(":", COLONS)
    return ("partition", partition), ("region", region), ("account", account)


def no_file_of(root: Path, file: Path) -> str:
    """Return why a path is not that of a file of a project, and the remedy; empty if it is."""
    if len(file.name) > MAX_FILE_CHARACTERS or not file.is_file():
        return "is not a file; create it"
    if not Path(os.path.abspath(file)).is_relative_to(os.path.abspath(root)):  # noqa: PTH100 (a link in the project is in it)
        return "is outside the project; move it there"
    return ""


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
