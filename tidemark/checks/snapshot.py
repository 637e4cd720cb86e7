"""Templates as a reviewer reads them: a file per job and one per stack, short and normalised.

A job's file has its resources and the places where the rest of its stack names it, so that a new
job adds a file and changes no other. It leaves out lines that say nothing to a reviewer or follow
from the rest: hashes of assets, the body of dashboards, the order of triggers, and the CDK's check
of its bootstrap stack. Logical ids stay: if one changes, a resource is replaced.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tidemark.model.assembly.cloud_assembly import Assembly

FOLDER = "tests/snapshots"
JOB, TRIGGER, DASHBOARD = "AWS::Glue::Job", "AWS::Glue::Trigger", "AWS::CloudWatch::Dashboard"
HASH = re.compile(r"[0-9A-F]{8}$")
DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
NO_FILE_NAME = re.compile(r"[^\w.-]+")
UNKNOWN = "<asset unknown>"
SUFFIX = ".txt"
STACK_FILE = f"_stack{SUFFIX}"  # a name that no job has
STAGE = re.compile(r"tidemark:stage=([^,\n]+)")  # the tag of everything in a stack of a stage


def snapshots(assembly: Assembly) -> dict[str, str]:
    """Return the snapshot of a cloud assembly: path of each file to its content."""
    assets = {asset.key.partition(".")[0]: asset.name or "asset" for asset in assembly.assets}
    return {
        f"{stack.name}/{name}": text
        for stack in assembly.stacks
        for name, text in stack_files(stack.template, assets).items()
    }


def stack_files(template: Mapping[str, Any], assets: Mapping[str, str]) -> dict[str, str]:
    """Return the files of one stack."""
    resources: Mapping[str, Any] = template.get("Resources", {})
    jobs = _jobs(resources)
    owners = {id_: job for id_ in resources if (job := _owner(id_, jobs))}
    parts: dict[str, dict[str, Any]] = {STACK_FILE: {}}
    named: dict[str, list[str]] = {}
    for logical_id, resource in sorted(resources.items()):
        shown = _plain(_relevant(resource, owners), assets)
        title = f"{resource['Type']} {logical_id}"
        owner = owners.get(logical_id)
        if owner is not None:
            parts.setdefault(_file_of(owner), {})[title] = shown
            continue
        listed: dict[str, list[str]] = {}
        parts[STACK_FILE][title] = _without_jobs(shown, jobs, "", listed)
        for job, places in listed.items():
            named.setdefault(job, []).extend(f"{logical_id}{place}" for place in places)
    for job, places in named.items():
        parts[_file_of(job)]["named in"] = places
    for output, value in sorted(template.get("Outputs", {}).items()):
        parts[STACK_FILE][f"Output {output}"] = _plain(value, assets)
    return {name: "".join(f"{line}\n" for line in _lines(part)) for name, part in parts.items()}


def _file_of(job: str) -> str:
    """Return the file of a job, whose name may be anything where others declared it."""
    return f"{NO_FILE_NAME.sub('_', job)}{SUFFIX}"


def _jobs(resources: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the jobs by their logical ids without the hash."""
    return {
        HASH.sub("", logical_id): str(resource.get("Properties", {}).get("Name", logical_id))
        for logical_id, resource in resources.items()
        if resource["Type"] == JOB
    }


def _owner(logical_id: str, jobs: Mapping[str, str]) -> str | None:
    """Return the job of a resource: its logical id starts with that of the job."""
    prefixes = [
        prefix
        for prefix in jobs
        if logical_id.startswith(prefix) and not logical_id[len(prefix) :][:1].islower()
    ]
    return jobs[max(prefixes, key=len)] if prefixes else None


def _relevant(resource: Mapping[str, Any], owners: Mapping[str, str]) -> dict[str, Any]:
    """Return the shown part of a resource."""
    shown = {key: value for key, value in resource.items() if key != "Type"}
    shown["Properties"] = dict(resource.get("Properties", {}))
    if resource["Type"] == DASHBOARD:
        shown["Properties"].pop("DashboardBody", None)
    if "DependsOn" in shown:
        needed = shown.pop("DependsOn")
        needed = [needed] if isinstance(needed, str) else needed
        if resource["Type"] == TRIGGER:  # one after the other, in the order of the jobs
            needed = [id_ for id_ in needed if id_ not in owners]
        if needed:
            shown["DependsOn"] = needed
    return shown


def _plain(value: Any, assets: Mapping[str, str]) -> Any:
    """Return a value with each intrinsic function as one line, and without hashes."""
    if isinstance(value, str):
        return DIGEST.sub(
            lambda found: f"<asset {assets[found[0]]}>" if found[0] in assets else UNKNOWN, value
        )
    if isinstance(value, list):
        return [_plain(item, assets) for item in value]
    if isinstance(value, dict):
        line = _line_of(value, assets) if len(value) == 1 else None
        return line or {key: _item(key, _plain(item, assets)) for key, item in value.items()}
    return value


def _item(key: str, value: Any) -> Any:
    """Return a value of a key in a meaningful order, tags in one line."""
    if key == "Resource" and isinstance(value, list):
        return sorted(value, key=json.dumps)  # the CDK orders these by the hashes in them
    if key == "Tags" and all(
        isinstance(tag, dict) and set(tag) == {"Key", "Value"} for tag in value
    ):
        return ", ".join(f"{tag['Key']}={tag['Value']}" for tag in value)
    return value


def _line_of(function: Mapping[str, Any], assets: Mapping[str, str]) -> str | None:
    """Return an intrinsic function as one line; None if it has no such form."""
    match function:
        case {"Ref": str(name)}:
            return f"${{{name}}}"
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return f"${{{name}.{attribute}}}"
        case {"Fn::Sub": str(text)}:
            return str(_plain(text, assets))
        case {"Fn::ImportValue": name}:
            return f"${{import {_plain(name, assets)}}}"
        case {"Fn::Join": [str(separator), list(items)]}:
            return separator.join(str(_plain(item, assets)) for item in items)
    return None


def _without_jobs(
    value: Any, jobs: Mapping[str, str], place: str, listed: dict[str, list[str]]
) -> Any:
    """Return a value without the items of lists that name a job, and note their places."""
    if isinstance(value, dict):
        return {
            key: _without_jobs(item, jobs, f"{place}.{key}", listed) for key, item in value.items()
        }
    if not isinstance(value, list):
        return value
    kept = []
    for item in value:
        job = _job_named(item, jobs)
        if job is None:
            kept.append(_without_jobs(item, jobs, place, listed))
        else:
            listed.setdefault(job, []).append(place)
    return kept


def _job_named(item: Any, jobs: Mapping[str, str]) -> str | None:
    """Return the job that an item of a list belongs to: its name, or an action that starts it."""
    if isinstance(item, str):
        return item if item in jobs.values() else None
    if isinstance(item, dict) and "JobName" in item:
        return jobs.get(HASH.sub("", str(item["JobName"]).strip("${}")))
    return None


def _lines(value: Any, indent: str = "") -> Iterator[str]:
    """Yield the lines of a value: keys and their values, deeper values further in."""
    items = value.items() if isinstance(value, dict) else (("-", item) for item in value)
    for key, item in items:
        mark = f"{indent}{key}" if key == "-" else f"{indent}{key}:"
        if isinstance(item, dict | list) and item:
            yield mark
            yield from _lines(item, f"{indent}  ")
        else:
            yield f"{mark} {item if isinstance(item, str) else json.dumps(item)}"


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the paths of the files that are not the same in two snapshots."""
    return sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )


def write(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Make a folder hold these files; return the changes by path.

    It removes the files of a job or stack that the app no longer has: see `read`.
    """
    done = {}
    for name in changed(read(folder, files), files):
        done[name] = "updated" if name in files else "removed"
        if name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(files[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return done


def read(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Return the snapshot of an app in a folder; empty if there is no such folder.

    Only folders of stacks count, which have a file of the stack; of stacks that the app has not,
    those of its stage. Anything else in the folder is somebody else's.
    """
    stacks = {name.partition("/")[0] for name in files}
    stages = set(STAGE.findall("".join(files.values())))
    replacements: dict[str, str] = {}
    for stack in sorted(path.parent for path in folder.glob(f"*/{STACK_FILE}")):
        files = {
            str(path.relative_to(folder)): path.read_text(encoding="utf-8")
            for path in sorted(stack.glob(f"*{SUFFIX}"))
        }
        of_stages = set(STAGE.findall("".join(files.values())))
        if stack.name in stacks or not of_stages or of_stages & stages:
            replacements |= files
    return replacements
