"""Composition root: the stacks of one stage."""

import sys
from pathlib import Path

from tidemark.app import run_app

ROOT = Path(__file__).resolve().parent


def build(app, stage, env):
    """Declare the stacks of a stage; what imports the CDK is imported here."""
    from infra.template_project_stack import TemplateProjectStack

    TemplateProjectStack(app, stage.name_of(), stage=stage, root=ROOT, env=env)


if __name__ == "__main__":
    sys.exit(run_app(ROOT, build))
