"""Draws graphs and charts by Graphviz and Vega, which run on Node."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tidemark.app import find_node
from tidemark.errors import TidemarkError, UsageError
from tidemark.local_state.machine.node_packages import check_owner, project_folders

PACKAGES = ("@hpcc-js/wasm-graphviz", "vega", "vega-lite")
INSTALL_SOME = "npm install --save-dev"
INSTALL = f"{INSTALL_SOME} {' '.join(PACKAGES)}"
PROGRAM = Path(__file__).with_name("draw.mjs")
TIMEOUT_S = 300
SHOWN = 400  # characters of Node's message about a failure


def draw(graphs: Mapping[str, str], charts: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return pictures as SVG by name."""
    if not graphs and not charts:
        return {}
    folder = find_packages()
    try:
        done = subprocess.run(  # noqa: S603 (our own program)
            [find_node(os.environ.get("JSII_NODE")), str(PROGRAM), str(folder)],
            input=json.dumps({"graphs": dict(graphs), "charts": dict(charts)}),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=TIMEOUT_S,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise TidemarkError(f"the pictures were not drawn within {TIMEOUT_S} s") from error
    except subprocess.CalledProcessError as error:
        output = " ".join(error.stderr.split())[:SHOWN]
        raise TidemarkError(
            f"the pictures cannot be drawn: {output}; `npm install` installs the packages again"
        ) from error
    pictures: dict[str, str] = json.loads(done.stdout)
    return pictures


def without_pictures(
    graphs: Mapping[str, str], charts: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """Return a sentence in the place of each picture, where nothing can draw."""
    sentence = f"<p>Not drawn: <code>{INSTALL}</code> installs what draws.</p>"
    return dict.fromkeys((*graphs, *charts), sentence)


def missing_packages() -> list[str]:
    """Return the packages that are not there, of the folder that has the most of them."""
    lacks = [
        [name for name in PACKAGES if not (folder / "node_modules" / name).is_dir()]
        for folder in project_folders()
    ]
    return min(lacks, key=len)


def find_packages() -> Path:
    """Return the folder of the project, or of Tidemark, whose `node_modules` has the packages."""
    for folder in project_folders():
        packages = [folder / "node_modules" / name for name in PACKAGES]
        if all(package.is_dir() for package in packages):
            for package in packages:
                check_owner(package, folder, "what draws the report")
            return folder
    raise UsageError(
        "what draws the report is not installed (no node_modules with "
        f"{', '.join(PACKAGES)} in {Path.cwd()}, nor in the folder of its project); run "
        f"`{INSTALL}` in the folder of your package.json"
    )
