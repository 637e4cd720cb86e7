"""The zip of packages that ships to the jobs: those in `libs/`, and the watermark library."""

import shutil
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from tidemark.errors import JobDefinitionError

LIBRARY = "watermarks"
# Files next to the code that must not change the zip.
NOT_SHIPPED = ["**/__pycache__", "**/*.pyc", "**/*.egg-info", "**/.DS_Store", "**/*.md"]
# Parts of the watermark library for people, which no job needs.
NOT_SHIPPED += [f"{LIBRARY}/admin"]


def libs_asset(scope: Construct, id_: str, root: Path) -> assets.Asset:
    """Return the zip of `libs/` of a project, if it has such a folder, with the watermark library.

    A project with `libs/watermarks` ships its own; every other one ships the installed library.

    Args:
        scope: the construct that owns the asset.
        id_: its construct id.
        root: folder of the project.

    Raises:
        JobDefinitionError: the watermark library is neither there nor installed.
    """
    own = root / "libs"
    if (own / LIBRARY).is_dir():
        return assets.Asset(scope, id_, path=str(own), exclude=NOT_SHIPPED)
    with TemporaryDirectory() as folder:  # the asset is copied at its creation
        staged = Path(folder) / "libs"
        if own.is_dir():
            shutil.copytree(own, staged)
        shutil.copytree(_installed(), staged / LIBRARY)
        return assets.Asset(scope, id_, path=str(staged), exclude=NOT_SHIPPED)


def _installed() -> Path:
    spec = find_spec(LIBRARY)
    if spec is None or spec.origin is None:
        raise JobDefinitionError(
            f"the package {LIBRARY!r} is not installed, but jobs need it; it is part of "
            "tidemark-glue: install that, or put the package into libs/ of the project"
        )
    return Path(spec.origin).parent
