"""What a command says beside its answer is bounded, and no half of a line is left of it."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tidemark.agents.child import MAX_BESIDE, run_command


async def tell(_seconds: float, _done: str) -> None:
    """Nobody asks."""


def test_of_a_line_that_is_too_long_no_half_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of it may be a row whose beginning, the class of the error, is not there."""
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path))

    printed = anyio.run(run_command, ["explain", "Jane" * MAX_BESIDE], tmp_path, tell)

    assert printed.code == 2
    assert printed.lines == ["[what was said before is left out]"]
