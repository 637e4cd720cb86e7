"""The packages that ship with a script that imports them, as a Pipeline ships them."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from tidemark.local_state.deployment.project_files import python_files


def shipped_packages(project: Path) -> dict[str, Path]:
    """Return the packages that ship to jobs: those of ``libs/``, and the watermark library."""
    packages = {}
    spec = find_spec("watermarks")
    if spec is not None and spec.origin:
        packages["watermarks"] = Path(spec.origin).parent
    folder = project / "libs"
    for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
        if (entry.is_dir() and (entry / "__init__.py").is_file()) or entry.suffix == ".py":
            packages[entry.stem] = entry
    return packages


def kept_for_workers(libraries: Sequence[Path], folder: Path) -> list[Path]:
    """Copy the libraries of a run to places that their content names; return these."""
    # Python workers of Spark live longer than a run, and keep their imports.
    return [_kept(library, folder / "libraries") for library in libraries]


def _kept(library: Path, folder: Path) -> Path:
    files = [library] if library.is_file() else sorted(library.rglob("*.py"))
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(library.parent)}\n".encode() + file.read_bytes())
    place = folder / digest.hexdigest()[:32] / library.name
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copyfile if library.is_file() else shutil.copytree
        copy(library, place)
    return place


def zip_packages(packages: Mapping[str, Path], archive: Path) -> None:
    """Write packages into a zip, as `--extra-py-files` takes it."""
    with ZipFile(archive, "w") as out:
        for place in packages.values():
            for file in [place] if place.is_file() else sorted(place.rglob("*")):
                if file.is_file() and file.suffix != ".pyc":
                    out.write(file, file.relative_to(place.parent).as_posix())


MAX_NEAR = 4


def near_scripts(project: Path, script: str) -> str:
    """Return which scripts of a project a name may mean, or which there are in `glue_jobs`."""
    names = sorted(path.relative_to(project).as_posix() for path in python_files(project))
    by_end = {Path(name).name: name for name in names}
    near = [
        *get_close_matches(script, names, 3),
        *(by_end[end] for end in get_close_matches(Path(script).name, by_end, 3)),
        *(name for name in names if "/" in script and Path(name).parent == Path(script).parent),
    ]
    if near:
        return f"did you mean {' or '.join(list(dict.fromkeys(near))[:MAX_NEAR])}?"
    there = [name for name in names if name.startswith("glue_jobs/")]
    return f"scripts in {project / 'glue_jobs'}: {', '.join(there) or 'none'}"
