"""Composition root: the stacks of one stage."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.app import run_app

if TYPE_CHECKING:
    import aws_cdk as cdk
    from tidemark.constructs import StageConfig

ROOT = Path(__file__).resolve().parent


def build(app: cdk.App, stage: StageConfig, env: cdk.Environment) -> None:
    """Declare the stacks of a stage; what imports the CDK is imported here."""
    from infra.template_project_stack import TemplateProjectStack

    TemplateProjectStack(app, stage.name_of(), stage=stage, root=ROOT, env=env)


if __name__ == "__main__":
    sys.exit(run_app(ROOT, build))
