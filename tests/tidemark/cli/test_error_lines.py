"""What a command prints and exits with when it fails."""

from __future__ import annotations

import click
import pytest

from tidemark.cli.error_lines import exit_line
from tidemark.errors import TidemarkError
from tidemark.extras import not_installed


def test_ctrl_c_at_a_question_exits_as_elsewhere() -> None:
    error = click.Abort()
    assert exit_line(error, "local") is None  # the answer was no
    error.__context__ = KeyboardInterrupt()

    assert exit_line(error, "local") == ("\nstopped", 130)


@pytest.mark.parametrize(
    "error",
    [ModuleNotFoundError("No module", name="pyspark"), not_installed("pyspark")],
    ids=lambda error: type(error).__name__,
)
def test_a_proof_without_its_packages_has_tried_nothing(error) -> None:
    codes = [line[1] for command in ("prove", "diff", "run") if (line := exit_line(error, command))]

    assert codes == [3, 3, 2]


@pytest.mark.parametrize("error", [TidemarkError("the home is in use"), OSError(28, "full")])
def test_a_proof_that_fails_does_not_say_that_the_job_is_wrong(error) -> None:
    codes = [line[1] for command in ("prove", "run") if (line := exit_line(error, command))]

    assert codes == [3, 1]
