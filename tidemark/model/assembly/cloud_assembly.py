"""Reads a CDK cloud assembly (``cdk.out``): its stacks in deployment order and its file assets."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.errors import UnsupportedError, UsageError

NESTED_STACK = "AWS::CloudFormation::Stack"
MANIFEST = "manifest.json"
# Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
STACK_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,127}")


@dataclass(frozen=True)
class Stack:
    """One stack: its name, its CloudFormation template, and its name in the CDK's commands.

    `file` is where the template was read; `environment` is `aws://ACCOUNT/REGION`, as far as the
    app says it.
    """

    name: str
    template: Mapping[str, Any]
    display_name: str = ""
    file: Path = Path()
    environment: str = ""

    def resource_types(self) -> set[str]:
        """Return the types of its resources and of those in nested stacks.

        A nested stack whose template is not part of the assembly is a type itself.
        """
        return _resource_types(self.template, self.file.parent)


@dataclass(frozen=True)
class FileAsset:
    """One file or folder that ``cdk deploy`` uploads to ``bucket``/``key`` (unresolved).

    `name` is the CDK's name for it, if given: the construct that it belongs to.
    """

    source: Path
    is_zipped: bool
    bucket: Any
    key: str
    name: str = ""


@dataclass(frozen=True)
class Assembly:
    """A synthesized app: stacks with dependencies first, and the assets they need.

    `stages` are the folders of its `cdk.Stage`s, each a separate assembly.
    """

    stacks: tuple[Stack, ...]
    assets: tuple[FileAsset, ...]
    stages: tuple[str, ...] = ()

    def with_stage_named(self, problem: str) -> str:
        """Return what to do about two resources of one name, which two `cdk.Stage`s may have."""
        if len(self.stages) < 2:
            return f"{problem}; give each its own name"
        folders = " or ".join(f"cdk.out/{name}" for name in self.stages)
        return f"{problem}; if they are of two stages, choose one with --app {folders}"


def read_assembly(folder: Path, *, is_of_others: bool = False) -> Assembly:
    """Read the cloud assembly in ``folder``; one of others may have no assets outside of it."""
    if not (folder / MANIFEST).is_file():
        raise UsageError(
            f"{folder} is not a CDK cloud assembly (it has no manifest.json); "
            "run `cdk synth`, or name the folder that it wrote with --app"
        )
    with deployable(folder):
        return _read_assembly(folder, is_of_others)


@contextmanager
def deployable(what: object = "the assembly") -> Iterator[None]:
    """Let the block read what CloudFormation would take; one error says that it would not."""
    try:
        yield
    except UnsupportedError:  # it can be deployed, and does not run here
        raise
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise UsageError(
            f"{what} holds something that could not be deployed ({type(error).__name__}: {error}); "
            "synthesize the app again"
        ) from error


def _read_assembly(folder: Path, is_of_others: bool) -> Assembly:
    stacks: list[Stack] = []
    assets: list[FileAsset] = []
    stages: list[str] = []
    artifacts = _read_json(folder / MANIFEST).get("artifacts", {})
    for artifact_id, artifact in _dependencies_first(artifacts):
        properties = artifact.get("properties", {})
        match artifact["type"]:
            case "aws:cloudformation:stack":
                file = within(folder, properties["templateFile"])
                name = properties.get("stackName", artifact_id)
                display_name = artifact.get("displayName", artifact_id)
                environment = artifact.get("environment", "")
                if not STACK_NAME.fullmatch(name):  # folders of snapshots are named for it
                    raise UsageError(
                        f"{folder} has a stack named {name!r}; allowed: 1 to 128 letters, digits "
                        "and hyphens, a letter first; synthesize the app again"
                    )
                stacks.append(Stack(name, _read_template(file), display_name, file, environment))
            case "cdk:asset-manifest":
                assets += _file_assets(folder, properties["file"], is_of_others)
            case "cdk:cloud-assembly":  # a cdk.Stage
                inner = within(folder, properties["directoryName"])
                if folder.resolve() not in inner.resolve().parents:
                    raise UsageError(
                        f"the assembly {folder} holds itself; synthesize the app again"
                    )
                nested = read_assembly(inner, is_of_others=is_of_others)
                stages.append(properties["directoryName"])
                stacks += nested.stacks
                assets += nested.assets
    return Assembly(tuple(stacks), tuple(assets), tuple(stages))


def within(folder: Path, named: object) -> Path:
    """Return a file that an assembly names by its path from a folder of it.

    Raises:
        UsageError: it lies outside of the assembly, by its path or by a link. An assembly may come
            from others: a path such as ``../../credentials`` is not followed.
    """
    if not isinstance(named, str) or "\0" in named:
        raise UsageError(f"the assembly {folder} names no file by {named!r}; synthesize it again")
    # The assets of a `cdk.Stage` lie in the assembly around its own.
    root = folder.resolve()
    while _has_stage(root.parent / MANIFEST, root.name):
        root = root.parent
    if not (folder / named).resolve().is_relative_to(root):
        raise UsageError(
            f"the assembly {folder} names the file {named!r}, which is outside of {root}; "
            "allowed: files of the assembly; synthesize the app with its assets staged, as "
            "`cdk synth` does without --no-staging"
        )
    return folder / named


def _has_stage(manifest: Path, name: str) -> bool:
    """Return whether a manifest names a folder; other tools have files of that name, too."""
    return manifest.is_file() and json.dumps(name) in manifest.read_text("utf-8", "replace")


def _resource_types(template: Mapping[str, Any], folder: Path) -> set[str]:
    types: set[str] = set()
    for resource in template.get("Resources", {}).values():
        nested = nested_template(resource, folder) if resource["Type"] == NESTED_STACK else None
        if nested is None:
            types.add(resource["Type"])
        else:
            types |= _resource_types(_read_json(nested), folder)
    return types


def nested_template(resource: Mapping[str, Any], folder: Path) -> Path | None:
    """Return the file of a nested stack: the metadata names it, or its asset has the key."""
    if named := resource.get("Metadata", {}).get("aws:asset:path"):
        return within(folder, named)
    url = json.dumps(resource.get("Properties", {}).get("TemplateURL", ""))
    for manifest in sorted(folder.glob("*.assets.json")):
        for file in _read_json(manifest).get("files", {}).values():
            keys = [destination["objectKey"] for destination in file["destinations"].values()]
            if any(key in url for key in keys):
                return within(folder, file["source"]["path"])
    return None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        if path.is_fifo():  # which may have no end
            raise OSError("it is a pipe")
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}; synthesize the app again") from error
    if not isinstance(document, dict):
        raise UsageError(f"{path} holds no JSON object; synthesize the app again")
    return document


def _read_template(path: Path) -> dict[str, Any]:
    template = _read_json(path)
    for logical_id, resource in template.get("Resources", {}).items():
        if not isinstance(resource["Type"], str) or not isinstance(
            resource.get("Properties", {}), dict
        ):
            raise TypeError(f"{path.name}: {logical_id} is not a resource")
    return template


def _dependencies_first(artifacts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    ordered: dict[str, Any] = {}

    def visit(artifact_id: str) -> None:
        if artifact_id in ordered or artifact_id not in artifacts:
            return
        for dependency in artifacts[artifact_id].get("dependencies", []):
            visit(dependency)
        ordered[artifact_id] = artifacts[artifact_id]

    for artifact_id in artifacts:
        visit(artifact_id)
    return list(ordered.items())


def _file_assets(folder: Path, manifest: str, is_of_others: bool) -> list[FileAsset]:
    files = _read_json(within(folder, manifest)).get("files", {})
    # One's own app may be synthesized without staging: then its assets lie in the project.
    place = within if is_of_others else Path.joinpath
    return [
        FileAsset(
            source=place(folder, file["source"]["path"]),
            is_zipped=file["source"].get("packaging") == "zip",
            bucket={"Fn::Sub": destination["bucketName"]},
            key=destination["objectKey"],
            name=file.get("displayName", ""),
        )
        for file in files.values()
        for destination in file["destinations"].values()
        if not str(file["source"]["path"]).endswith(".template.json")
    ]
