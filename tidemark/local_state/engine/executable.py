"""Finds the executable of the embedded DynamoDB engine, where nobody else can put one.

It runs as the user, so it is taken from the user's project, from the installation of Tidemark, or
from the PATH, and never from a folder above the project.
"""

import os
import platform
import shutil
import sys
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.local_state.machine.node_packages import check_owner, project_folders

PACKAGES = Path("node_modules", "@dynoxide")
IN_WHEEL = Path(__file__).with_name("bin")  # setup.py puts the one of the wheel's platform there
WHAT = "the embedded DynamoDB engine"
ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def find_engine(endpoint_variable: str) -> Path:
    """Return the engine's executable."""
    package = PACKAGES / package_name()
    for folder in project_folders():
        for candidate in sorted((folder / package).glob("dynoxide*")):
            if os.access(candidate, os.X_OK):
                check_owner(candidate, folder, WHAT)
                return candidate
    for candidate in sorted(IN_WHEEL.glob("dynoxide*")):
        if os.access(candidate, os.X_OK):
            check_owner(candidate, IN_WHEEL.parent, WHAT)
            return candidate
    on_path = shutil.which("dynoxide")
    if on_path:
        return Path(on_path)
    raise UsageError(
        f"the embedded DynamoDB engine is not installed (no executable in {Path.cwd() / package}); "
        f"run `npm install @dynoxide/{package.name}` in the folder of your project, put `dynoxide` "
        f"on the PATH, or set {endpoint_variable} to the URL of any DynamoDB"
    )


def package_name(system: str = sys.platform, machine: str | None = None) -> str:
    """Return the npm package of the engine for a platform, without its scope: ``linux-x64``."""
    architecture = machine or platform.machine()
    return f"{system}-{ARCHITECTURES.get(architecture.lower(), architecture)}"
