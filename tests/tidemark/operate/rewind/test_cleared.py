"""What rewinds have deleted, by their records."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.local_state.bookmarks.versions import commit_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.rewinds.records import (
    DONE,
    GIVEN_UP,
    BookmarkStep,
    RewindCause,
    Steps,
    WatermarkStep,
    end,
    record_start,
)
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.operate.rewind.cleared import Cleared, cleared_here

FILES = (("lake/b/out/part", "rewinds/1/part"),)


@pytest.fixture
def store(tmp_path: Path):
    with Store(Home.open(tmp_path).database) as store:
        for number, run_id in enumerate(("jr_1", "jr_2")):
            commit_bookmark(store, "load", run_id, {}, number, 10 * number)
            with store.transaction():
                put_checkpoint(store, Checkpoint("load", run_id, 100 + number))
        yield store


def rewound(store: Store, steps: Steps, state: str = DONE, undoes: int | None = None) -> int:
    with store.transaction():
        record = record_start(
            store, RewindCause("ada", "bad", 200), {"to": "", "steps": steps.to_json()}, undoes
        )
        end(store, record.rewind_id, state)
    return record.rewind_id


def test_what_was_committed_after_the_run_of_a_rewind_is_deleted(store: Store) -> None:
    rewound(store, Steps((BookmarkStep("load", 2, 1),), files=FILES))

    assert cleared_here(store) == [Cleared("load", 100, 200)]


def test_to_the_beginning_all_is_deleted(store: Store) -> None:
    watermark = WatermarkStep("marks", "curate", "", 2, "jr_9", "")
    rewound(store, Steps((BookmarkStep("load", 2, 0),), (watermark,), FILES))

    assert cleared_here(store) == [Cleared("load", 0, 200), Cleared("curate", 0, 200)]


@pytest.mark.parametrize("state", [DONE, GIVEN_UP])
def test_a_rewind_without_files_or_that_was_given_up_deletes_nothing(
    store: Store, state: str
) -> None:
    rewound(store, Steps((BookmarkStep("load", 2, 1),)), state)
    rewound(store, Steps((BookmarkStep("load", 2, 1),), files=FILES), GIVEN_UP)

    assert cleared_here(store) == []


def test_an_undo_brings_it_back_and_the_undo_of_an_undo_deletes_it_again(store: Store) -> None:
    steps = Steps((BookmarkStep("load", 2, 1),), files=FILES)
    first = rewound(store, steps)
    second = rewound(store, steps.backwards(), undoes=first)
    undone = cleared_here(store)
    rewound(store, steps, undoes=second)

    assert undone == []
    assert cleared_here(store) == [Cleared("load", 100, 200)]
