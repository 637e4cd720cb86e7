"""A rewind that meets a full disk moves nothing, or says exactly what has moved."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.disks import can_mount
from tests.sampled import at_night


@pytest.mark.skipif(not can_mount(), reason="a disk of its own needs root")
@pytest.mark.parametrize(("seed", "rounds"), [(4, 6), *at_night((1, 60), (2, 60))])
def test_a_rewind_on_a_full_disk_is_as_before_or_named_and_comes_back(tmp_path, seed, rounds):
    program = [sys.executable, "-m", "tests.tidemark.operate.rewind.full_disk"]
    arguments = [str(tmp_path), str(seed), str(rounds)]

    run = subprocess.run(
        ["unshare", "--mount", *program, *arguments], capture_output=True, text=True
    )

    outcomes = json.loads(run.stdout or "[]")
    assert len(outcomes) == rounds, run.stderr
    for outcome in outcomes:
        said = outcome["said"]
        assert outcome["after"], outcome
        if said != "done":
            assert said.startswith("the disk of "), said
            assert "AWS_ENDPOINT_URL" not in said
            assert ("resume" in said and "undo" in said) == outcome["open"], outcome
            assert outcome["open"] or outcome["same"], outcome
            assert ("lake/copy/" in said) == outcome["files"], outcome
            assert not outcome["marks"] or "watermarks of table glue-watermarks" in said, outcome
    assert any(outcome["said"] != "done" for outcome in outcomes)
