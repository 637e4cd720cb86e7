"""Finds what names the old jobs and sees nothing of them once they have moved: pure.

Alarms, rules, policies, dashboards and the like name a job, a crawler or a workflow by the name
that it has until now. After the last step of a plan nothing of that name runs.
"""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from tidemark.adopt.model import Adoption, Existing
from tidemark.adopt.reading import document_of
from tidemark.adopt.reasons import ANY
from tidemark.model.schedules.event_matching import matches

# Where a resource says its own name, or what people read.
OWN_WORDS = {"name", "id", "description", "tags", "tags_all", "arn", "comment"}
NODE = re.compile(r"(?:job|crawler|workflow)/([^/\s]+)$")  # the end of an ARN of Glue
STATES = ("SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT")
ALARM = ("it watches {}: nothing of that name runs after the last step", "name {} in it")
POLICY = ("it allows actions on {}, and not on what replaces it", "allow them on {} too")
RULE = ("its pattern waits for events of {}, and none comes after the last step", "name {} in it")
OTHER = ("it names {}: nothing of that name runs after the last step", "name {} in it")
REPORTING = (["sns"], ["sqs"], ["logs"], ["firehose"], ["kinesis"])  # services of targets
REASONS = {"alarm": ALARM, "policy": POLICY, "role": POLICY, "rule": RULE, "machine": ANY["caller"]}


def watchers_of(existing: Existing, adoption: Adoption) -> dict[tuple[str, str], tuple[str, str]]:
    """Return why each resource that names what moves needs a change, and which, by kind and name.

    One whose pattern or wildcard has the new name as well needs none.
    """
    moves = {node.old: node.name for node in adoption.jobs}
    moves |= {crawler.old_name: crawler.name for crawler in adoption.crawlers}
    if adoption.old_workflow:
        moves[adoption.old_workflow] = adoption.name
    watchers = {}
    for kind, name, properties in existing.around:
        named = {old: new for old, new in moves.items() if is_named(old, new, properties)}
        if named:
            why, do = next((REASONS[word] for word in REASONS if word in kind), OTHER)
            old, new = ", ".join(named), ", ".join(named.values())
            watchers[kind, name] = (why.format(old), do.format(new))
    return watchers


def reporting_rules(existing: Existing) -> set[str]:
    """Return the rules that wait for events of the jobs, and tell somebody, and start nothing."""
    waiting = {
        name
        for kind, name, properties in existing.around
        if kind == "rule" and any(is_named(job, "", properties) for job in existing.jobs)
    }
    starting = {
        str(rule["Name"])
        for rule in existing.other_rules
        if str(rule.get("Target") or "").split(":")[2:3] not in REPORTING
    }
    return waiting - starting


def is_named(old: str, new: str, properties: Mapping[str, Any]) -> bool:
    """Return whether the properties of a resource name something by its old name alone."""
    for key, value in properties.items():
        if key.lower().replace("_", "") == "eventpattern":
            if _waits_for(value, old) and not _waits_for(value, new):
                return True
        elif key.lower() not in OWN_WORDS and any(_names(t, old, new) for t in _texts_of(value)):
            return True
    return False


def _texts_of(value: Any) -> Iterator[str]:
    """Yield the strings of a value, also of those that are a document of JSON."""
    document = document_of(value) if isinstance(value, str) else value
    if isinstance(document, Mapping | list | tuple):
        for part in document.values() if isinstance(document, Mapping) else document:
            yield from _texts_of(part)
    elif isinstance(value, str):
        yield value


def _names(text: str, old: str, new: str) -> bool:
    if node := NODE.search(text):
        return fnmatchcase(old, node[1]) and not fnmatchcase(new, node[1])
    return text == old or re.search(rf"""["'/:=]{re.escape(old)}["']""", text) is not None


def _waits_for(pattern: Any, name: str) -> bool:
    """Return whether a pattern selects an event of Glue about something of a name."""
    wanted = document_of(pattern) if isinstance(pattern, str) else pattern
    if not isinstance(wanted, Mapping) or "detail" not in wanted:  # then it has the new ones, too
        return False
    details = [
        {key: name, "state": state, "severity": severity, "message": ""}
        for key in ("jobName", "crawlerName", "workflowName")
        for state in (*STATES, *map(str.capitalize, STATES), "RUNNING")
        for severity in ("INFO", "ERROR")
    ]
    parts = {key: value for key, value in wanted.items() if key in ("source", "detail")}
    try:
        return any(matches(parts, {"source": "aws.glue", "detail": detail}) for detail in details)
    except (KeyError, TypeError, ValueError):  # EventBridge refuses such a pattern
        return False
