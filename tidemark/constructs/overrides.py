"""Finds overrides of properties from which grants and log groups of a job or crawler follow.

An override is in the template only, but role, log groups and alarms still fit the
declaration.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import aws_cdk as cdk
from constructs import IConstruct

from tidemark.checks.graph.model import Problem
from tidemark.constructs.references import read_once
from tidemark.model.assembly.resources import Templates

RULE = "overridden-grants"
ARGUMENTS = ("DefaultArguments", "NonOverridableArguments")  # the second one wins
LOGS = ("--custom-logGroup-prefix", "--continuous-log-logGroup")
# Properties from which a job's role, log groups and network follow.
PROPERTIES = ("Role", "SecurityConfiguration", "CrawlerSecurityConfiguration", "Connections")
GRANTED = (
    *LOGS,
    "--TempDir",
    "--spark-event-logs-path",
    "--python-virtual-env-storage-prefix",
    "--extra-py-files",
    "--extra-jars",
    "--extra-files",
    "--additional-python-modules",
    "--python-modules-installer-option",
    "--watermark_table",
    "--nothing_new_table",
)
_root_of: Callable[[cdk.Stack], IConstruct] = read_once(lambda stack: stack.node.root)
_Declared: TypeAlias = tuple[cdk.Stack, cdk.CfnResource, Mapping[str, Any]]
# By app: each resource, and the properties that it was declared with, which may have tokens.
_DECLARED: WeakKeyDictionary[IConstruct, list[_Declared]] = WeakKeyDictionary()


def declare(stack: cdk.Stack, resource: cdk.CfnResource, properties: Mapping[str, Any]) -> None:
    """Note the properties from which grants and log groups follow, for a check at synthesis."""
    _DECLARED.setdefault(_root_of(stack), []).append((stack, resource, properties))


@read_once
def _template_of(stack: cdk.Stack) -> Path:
    stage = cdk.Stage.of(stack)
    return Path(stage.outdir if stage else "", stack.template_file).resolve()


def problems_of_overrides(
    root: IConstruct, path_of: Mapping[str, str], templates: Templates
) -> Iterator[Problem]:
    """Yield the changes by overrides to resources that an app declared.

    Args:
        root: the app.
        path_of: stack name to the path of its template.
        templates: stack name to its template.
    """
    names = {Path(path).resolve(): name for name, path in path_of.items()}
    for stack, declared, properties in _DECLARED.get(root, ()):
        name = names.get(_template_of(stack))
        if name is None:
            continue
        id_, known = stack.resolve([declared.logical_id, dict(properties)])
        resource = templates[name].get("Resources", {}).get(id_, {})
        for what, was, now in changed(known, resource.get("Properties", {})):
            yield Problem(
                RULE,
                f"{name}/{id_}",
                f"an override sets {what} to {now!r}, which was declared as {was!r}; the grants of "
                "the role and the log groups depend on that",
                "declare it where the job, the crawler or the pipeline is created, remove the "
                f'override; or say why it is right: job.acknowledge("{RULE}", "...")',
            )


def granting(arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments from which grants follow: those of Glue, and addresses of data."""
    return {k: v for k, v in arguments.items() if k in GRANTED or "s3://" in v}


def changed(
    declared: Mapping[str, Any], properties: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the properties that differ from the declaration: name, and both values.

    >>> list(changed({"Role": "a"}, {"Role": "b"}))
    [('Role', 'a', 'b')]
    """
    for name in PROPERTIES:
        if declared.get(name) != properties.get(name):
            yield name, declared.get(name), properties.get(name)
    commands = (of.get("Command") for of in (declared, properties))
    was, now = (
        command.get("ScriptLocation") if isinstance(command, Mapping) else None
        for command in commands
    )
    if was != now:
        yield "Command.ScriptLocation", was, now
    known, overridden = (
        {k: v for key in ARGUMENTS for k, v in (of.get(key) or {}).items()}
        for of in (declared, properties)
    )
    for name in dict.fromkeys((*GRANTED, *known)):
        if known.get(name) != overridden.get(name):
            yield name, known.get(name), overridden.get(name)
