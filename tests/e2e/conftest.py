"""Fixtures of the whole-run tests: the real app, synthesized once, and homes to run it in."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ops.synth import synthesize

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def synth(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Synthesize this project's app with a context, into a folder of its own."""

    def synth(**context: str) -> Path:
        return synthesize(PROJECT, context, tmp_path_factory.mktemp("synth") / "cdk.out")

    return synth


@pytest.fixture(scope="session")
def assembly(synth: Callable[..., Path]) -> Path:
    """The assembly of the dev stage as it is committed."""
    return synth()
