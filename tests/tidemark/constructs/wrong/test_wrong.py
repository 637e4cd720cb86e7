"""What a team declares wrong is refused in one line; what only looks wrong is synthesized."""

from types import ModuleType

import pytest

from tests.sampled import every_nth
from tests.tidemark.constructs.wrong import (
    contracts,
    existing,
    glue_arguments,
    job_uses,
    jobs,
    kinds,
    options,
    pipelines,
    places,
    stages,
    starts,
    tables,
)
from tests.tidemark.constructs.wrong.world import World
from tidemark.errors import InputError

pytestmark = pytest.mark.synth

MODULES = [
    contracts,
    existing,
    glue_arguments,
    job_uses,
    jobs,
    kinds,
    options,
    pipelines,
    places,
    stages,
    starts,
    tables,
]


def cases(name):
    """Return the cases of all modules under one name, as parameters."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), id=f"{_short(module)}: {id_}")
        for module in MODULES
        for id_, case in getattr(module, name, {}).items()
    ]


def _short(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


@pytest.mark.parametrize(("declare", "why"), cases("WRONG"))
def test_what_is_wrong_is_refused_in_one_line(world, declare, why):
    with pytest.raises(InputError) as refused:
        declare(world)

    text = str(refused.value)
    assert why in text
    assert "\n" not in text
    assert ";" in text  # what to do follows what is wrong


@pytest.mark.parametrize("declare", every_nth(5, cases("VALID")))  # each synthesizes an app
def test_what_only_looks_wrong_is_synthesized(cdk, tmp_path, declare):
    world = World(tmp_path)

    declare(world)

    assert world.app.synth().stacks


@pytest.mark.parametrize(("declare", "rule"), cases("REFUSED_AT_SYNTHESIS"))
def test_what_only_all_of_it_shows_to_be_wrong_is_refused_at_synthesis(
    cdk, tmp_path, declare, rule
):
    world = World(tmp_path)
    declare(world)

    assert rule in world.broken_rules()
