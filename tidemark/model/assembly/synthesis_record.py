"""The project and context of an assembly, noted in its folder at synthesis."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
