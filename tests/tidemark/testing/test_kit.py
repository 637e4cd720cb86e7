"""The home that the tests of one process share is as new for each of them."""

from __future__ import annotations

from tidemark.local_state.home_folder import TABLES
from tidemark.local_state.store.state_record import check_state, note
from tidemark.testing.kit import Kit


def test_a_cleared_home_misses_nothing_of_the_test_before(tmp_path):
    kit = Kit(tmp_path, {})
    check_state(kit.home.root)  # as a command does
    note(kit.home.root, TABLES, 3)

    kit.clear()

    check_state(kit.home.root)
    kit.close()
    assert not kit.home.dynamodb.joinpath("tables.db").exists()
