"""Synthesizes the CDK app of a project the way the CDK command line does."""

import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.errors import TidemarkError, UsageError

USAGE_EXIT_CODE = 2


def synthesize(project: Path, context: Mapping[str, str], output: Path | None = None) -> Path:
    """Run the app command of ``cdk.json`` and return the folder of the cloud assembly."""
    command = app_command(project)
    output = (output or project / "cdk.out").absolute()
    # The CDK's own validation takes two seconds and is for deployments: `cdk` runs it.
    environment = {"CDK_VALIDATION": "false", **os.environ, "CDK_OUTDIR": str(output)}
    environment["CDK_CONTEXT_JSON"] = json.dumps(_context(project) | dict(context))
    run = subprocess.run(  # noqa: S603 (the project's own app)
        command, cwd=project, env=environment, capture_output=True, text=True
    )
    if run.returncode == 0:
        if output.is_dir():
            note_synthesis(output, Synthesis(str(project.absolute()), dict(context)))
        return output
    text = run.stderr.strip() or run.stdout.strip() or "no output"
    if run.returncode == USAGE_EXIT_CODE:
        raise UsageError(text.removeprefix("error: "))
    raise TidemarkError(f"the CDK app failed with exit code {run.returncode}:\n{text}")


def _context(project: Path) -> dict[str, Any]:
    """Return the context that the CDK command line hands to the app, before the options -c."""
    # Source: https://docs.aws.amazon.com/cdk/v2/guide/context.html
    looked_up = project / "cdk.context.json"
    texts = {"the context in cdk.json": json.dumps(_cdk_json(project).get("context", {}))}
    if looked_up.is_file():
        texts[str(looked_up)] = looked_up.read_text(encoding="utf-8")
    if given := os.environ.get("CDK_CONTEXT_JSON"):
        texts["the variable CDK_CONTEXT_JSON"] = given
    context: dict[str, Any] = {}
    for name, text in texts.items():
        try:
            context |= json.loads(text)
        except (ValueError, TypeError) as error:
            raise UsageError(f"{name} is not a JSON object ({error}); correct it") from error
    return context


def _cdk_json(project: Path) -> dict[str, Any]:
    path = project / "cdk.json"
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        document["app"]
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no CDK app in {project}: it has no cdk.json; run tidemark in the folder of "
            "the app; `tidemark submit`, `lint` and `prove` also take a SCRIPT"
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(
            f"cannot read the app command from {path} ({reason}); run tidemark in the folder of "
            'the CDK app, whose cdk.json has "app": "python app.py"'
        ) from error
    return document


def app_command(project: Path) -> list[str]:
    """Return the words of the app command; ``python`` becomes the running interpreter."""
    words = shlex.split(_cdk_json(project)["app"])
    return [sys.executable, *words[1:]] if words[0] in ("python", "python3") else words


RECORD_FILE = "tidemark-synthesis.json"


@dataclass(frozen=True)
class Synthesis:
    """How to synthesize an assembly again.

    Attributes:
        project: the folder of its `cdk.json`.
        context: the values that the caller gave, as `-c` has them.
    """

    project: str
    context: Mapping[str, str]


def digest_of_assembly(folder: Path) -> str:
    """Return a digest of an assembly's manifest, templates and asset lists."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.json")):
        if path.name not in (RECORD_FILE, "tree.json") and path.is_file():
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def note_synthesis(folder: Path, synthesis: Synthesis) -> None:
    """Note in an assembly its project and context."""
    document = {
        "project": synthesis.project,
        "context": dict(synthesis.context),
        "digest": digest_of_assembly(folder),
    }
    (folder / RECORD_FILE).write_text(json.dumps(document), encoding="utf-8")


def read_synthesis(folder: Path, digest: str) -> Synthesis | None:
    """Return the project and context of an assembly; None if its digest is not that of the note."""
    try:
        document = json.loads((folder / RECORD_FILE).read_text(encoding="utf-8"))
        if document["digest"] != digest:
            return None
        return Synthesis(str(document["project"]), dict(document["context"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
