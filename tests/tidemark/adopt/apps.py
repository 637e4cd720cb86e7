"""Projects with adopted pipelines, and what their templates have."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.projects import insert_before
from tidemark.scaffold.project import plan_project, write_project

HERE = Path(__file__).parent
APP = HERE / "orders.out"


def new_project(folder: Path) -> Path:
    """Return a new project as `tidemark init` writes it."""
    project = folder / "web-shop"
    write_project(project, plan_project("web-shop"))
    return project


def adopt(project: Path, *arguments: str, exit_code: int = 0) -> str:
    """Run `tidemark adopt` in a project; return what it prints, both streams."""
    run = subprocess.run(
        [sys.executable, "-m", "tidemark", "adopt", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == exit_code, run.stdout + run.stderr
    return run.stdout + run.stderr


def put_into_app(project: Path, title: str, name: str) -> None:
    """Make an adopted stack in app.py, as the command says."""
    app = project / "app.py"
    text = app.read_text(encoding="utf-8")
    module = name.replace("-", "_")
    block = (
        f"    from infra.{module}_stack import {title}Stack\n\n"
        f'    {title}Stack(app, stage.name_of("{name}"), stage=stage, root=ROOT, env=env)\n'
    )
    app.write_text(insert_before(text, "    from infra.web_shop_stack", block), encoding="utf-8")


def synthesized(project: Path, name: str, stage: str = "dev") -> Mapping[str, Any]:
    """Return the template of a pipeline's stack in a stage."""
    out = project / f"cdk.{stage}"
    run = subprocess.run(
        [sys.executable, "app.py"],
        cwd=project,
        env=os.environ | {"CDK_OUTDIR": str(out), "CDK_CONTEXT_JSON": json.dumps({"stage": stage})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    template: Mapping[str, Any] = json.loads(
        (out / f"web-shop-{stage}-{name}.template.json").read_text(encoding="utf-8")
    )
    return template


def resources(template: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    """Return the properties of the resources of a type."""
    return [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == kind
    ]
