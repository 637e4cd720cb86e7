"""A stage with everything switched on."""

import pytest

from tests.tidemark.constructs.monitoring.watched import STAGE


@pytest.fixture(scope="module")
def watched(synth):
    """Return the assembly of a stage with everything switched on."""
    return synth(stage="watched", **{"tidemark:stages": {"watched": STAGE}}).sample()
