"""Chains that a random graph rarely has."""

from __future__ import annotations

import pytest

from tests.tidemark.operate.rewind.model import Job
from tests.tidemark.operate.rewind.test_random_graphs import check


@pytest.mark.parametrize("how", ["files", "keys"])
def test_a_merge_behind_a_reader_by_keys_is_not_called_right(dynamodb, how):
    first = f"chain-{how}"
    jobs = [
        Job(f"{first}-0", ("source0",), how, "append"),
        Job(f"{first}-1", (f"{first}-0",), "keys", "window"),
        Job(f"{first}-2", (f"{first}-1",), "files", "merge"),
    ]

    check(dynamodb, (["source0"], jobs, f"{first}-0", [], [("all", "", "")], False, False))
