"""Composition root: the stacks of one stage."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.app import run_app

if TYPE_CHECKING:
    import aws_cdk as cdk

    from tidemark.model.stage.config import StageConfig

ROOT = Path(__file__).resolve().parent


def build(app: "cdk.App", stage: "StageConfig", env: "cdk.Environment") -> None:
    """Declare the stacks of a stage."""
    from infra.flights_stack import FlightsStack
    from infra.github_stack import GithubStack
    from infra.storage_stack import StorageStack

    lake = StorageStack(app, stage.name_of("storage"), stage=stage, env=env).lake
    FlightsStack(app, stage.name_of("flights"), stage=stage, lake=lake, root=ROOT, env=env)
    if stage.github_repository:
        GithubStack(app, stage.name_of("github"), stage=stage, env=env)


def main() -> int:
    """Synthesize the stage that the context selects; return the exit code."""
    return run_app(ROOT, build, own_keys=("flightsSource",))


if __name__ == "__main__":
    sys.exit(main())
