"""The packages that ship with a script that imports them, as a Pipeline ships them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

LIBS = "libs"


def shipped_packages(project: Path) -> dict[str, Path]:
    """Return the packages that ship to jobs: those of ``libs/``, and the watermark library."""
    found = {}
    spec = find_spec("watermarks")
    if spec is not None and spec.origin:
        found["watermarks"] = Path(spec.origin).parent
    folder = project / LIBS
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    for entry in entries:
        if (entry.is_dir() and (entry / "__init__.py").is_file()) or entry.suffix == ".py":
            found[entry.stem] = entry
    return found


def zip_packages(packages: Mapping[str, Path], archive: Path) -> None:
    """Write packages into a zip, as `--extra-py-files` takes it."""
    with ZipFile(archive, "w") as out:
        for place in packages.values():
            files = [place] if place.is_file() else sorted(place.rglob("*"))
            for file in files:
                if file.is_file() and file.suffix != ".pyc":
                    out.write(file, file.relative_to(place.parent).as_posix())
