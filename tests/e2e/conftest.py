"""Fixtures of the whole-run tests: the real app, synthesized once, and homes to run it in."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fixtures.assemblies import shared_assembly


@pytest.fixture(scope="session")
def synth(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that synthesizes this project's app with a context."""
    return lambda **context: shared_assembly(tmp_path_factory, context)


@pytest.fixture(scope="session")
def assembly(synth: Callable[..., Path]) -> Path:
    """The assembly of the dev stage as it is committed."""
    return synth()
