"""An app that tests share for as long as all that they declare is refused."""

import pytest

from tests.tidemark.constructs.wrong.world import World

_UNTOUCHED: list[tuple[World, tuple[int, ...]]] = []


@pytest.fixture
def world(cdk, tmp_path_factory):
    """Return an app with an empty pipeline; what a test leaves in it no other test sees."""
    if not _UNTOUCHED:
        made = World(tmp_path_factory.mktemp("world"))
        _UNTOUCHED.append((made, made.size()))
    made, size = _UNTOUCHED[0]

    yield made

    if made.size() != size:
        _UNTOUCHED.clear()
