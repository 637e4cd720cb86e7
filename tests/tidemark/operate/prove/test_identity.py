"""Which states are equal, whatever runs, random ids and times are called."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.operate.prove.identity import (
    Equality,
    Piece,
    condensed,
    identity,
    learned,
    likeness,
    rendered,
)

NOW = 1_790_000_000.0
PLAIN = Equality(NOW)


def same(one: list[Piece], other: list[Piece], equality: Equality = PLAIN) -> bool:
    return identity(rendered(one, equality)) == identity(rendered(other, equality))


def pending(named: str, written: str) -> list[Piece]:
    """Return a state with a note that names an object, and an object."""
    return [
        Piece("out/pending", json.dumps({"object": f"rows/{named}.json"})),
        Piece(f"out/rows/{written}.json", "{}"),
    ]


@pytest.mark.parametrize(
    "new_id",
    [
        lambda: str(uuid.uuid4()),
        lambda: uuid.uuid4().hex,
        lambda: f"4f{uuid.uuid4().hex[:6]}",
        lambda: f"orders_{uuid.uuid4().hex[:6]}7d_c000",
    ],
    ids=["uuid", "hex", "short", "within a name"],
)
def test_ids_are_equal_if_they_stand_in_the_same_places(new_id):
    one, two, three = (new_id() for _ in range(3))

    assert same(pending(one, one), pending(two, two))
    assert not same(pending(one, one), pending(two, three))
    assert same(pending(one, two), pending(two, three))


@pytest.mark.parametrize("number", ["b{:08}", "{:08}", "{:09}", "ab{:06}", "{:04}"])
def test_numbers_count_as_they_are(number):
    assert not same([Piece("mark", number.format(7))], [Piece("mark", number.format(8))])


def test_ids_that_every_run_makes_count_as_they_are():
    digests = [uuid.uuid4().hex, uuid.uuid4().hex]
    one, other = ([Piece("mark", digest)] for digest in digests)
    equality = learned(NOW, one, one)

    assert same(one, other)
    assert not same(one, other, equality)


@pytest.mark.parametrize(
    "text_of",
    [
        lambda at: f"{at:.0f}",
        lambda at: f"{at * 1000:.0f}",
        lambda at: datetime.fromtimestamp(at, UTC).isoformat(),
        lambda at: f"run-{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%S}/x",
        lambda at: f"run-{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%S%f}/x",
        lambda at: f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S.%f}",
    ],
    ids=["seconds", "milliseconds", "iso", "compact", "compact microseconds", "microseconds"],
)
def test_times_of_the_proof_count_by_their_order_and_others_as_they_are(text_of):
    def state(*seconds: float) -> list[Piece]:
        return [Piece(f"out/{at}", text_of(NOW + after)) for at, after in enumerate(seconds)]

    assert same(state(1, 2), state(5, 900))
    assert not same(state(1, 2), state(2, 1))
    assert not same(state(1, 2), state(1, 1))
    assert not same(state(-60, 2), state(-120, 2))  # data of today, a file that was there


def test_an_expiry_ahead_counts_as_it_is_if_every_run_writes_the_same():
    of_run, of_next = (
        [Piece("item", json.dumps({"expires": int(NOW) + at}))] for at in (10**8, 10**8 + 7)
    )

    of_next_day = [Piece("item", json.dumps({"expires": int(NOW) + 10**8 + 86_400}))]

    assert same(of_run, of_next)
    assert not same(of_run, of_next_day)
    assert not same(of_run, of_next, learned(NOW, of_run, of_run))


def test_what_differs_in_equal_runs_is_never_equal_and_alike_if_as_much_is_there():
    def state(*draws: float) -> list[Piece]:
        return [*(Piece("out/.json", f"{draw}") for draw in draws), Piece("out/note", "1")]

    def alike(one: list[Piece], other: list[Piece]) -> bool:
        noisy = equality.noisy
        one, other = rendered(one, equality), rendered(other, equality)
        return likeness(one, noisy) == likeness(other, noisy)

    equality = learned(NOW, state(0.25, 0.5), state(0.75, 0.125))

    assert equality.noisy == {"out/.json"}
    assert not same(state(0.1, 0.2), state(0.3, 0.4), equality)  # a write in place is a change
    assert alike(state(0.1, 0.2), state(0.3, 0.4))
    assert not alike(state(0.1, 0.2), state(0.3))


ROWS = st.lists(
    st.sampled_from(["a", "b", "2013-01-01 05:00:00", str(uuid.UUID(int=7, version=4))])
)


@given(ROWS, ROWS)
def test_rows_in_one_piece_are_equal_if_they_are_the_same_in_some_order(first, second):
    texts = [first, second]
    whole = [[Piece("", text) for text in rows] for rows in texts]
    short = [condensed(rows, NOW) for rows in texts]

    assert same(short[0], short[1]) == same(whole[0], whole[1]) == (sorted(first) == sorted(second))
    assert [sum(piece.count for piece in pieces) for pieces in short] == [len(first), len(second)]


def test_only_rows_that_a_run_may_have_made_up_stay_apart():
    rows = ["id 1", "id 2", "2013-01-01 05:00:00", f"at {NOW + 60:.0f}", f"{uuid.uuid4()}"]

    *made_up, others = condensed(rows, NOW)

    assert [piece.text for piece in made_up] == rows[3:]
    assert others.count == 3


PIECES = st.lists(
    st.tuples(st.sampled_from("abc"), st.lists(st.integers(0, 3), max_size=3)), max_size=5
)


@given(PIECES, PIECES, st.permutations(range(4)))
def test_equal_states_are_those_that_a_renaming_of_ids_makes_equal(first, second, names):
    ids = [uuid.UUID(int=number + 1, version=4) for number in range(4)]

    def state(pieces: list[tuple[str, list[int]]], name: object = lambda at: at) -> list[Piece]:
        return [
            Piece(where, " ".join(f"{ids[name(at)]}" for at in held))  # type: ignore[operator]
            for where, held in pieces
        ]

    assert same(state(first), state(first[::-1], lambda at: names[at]))
    counts = [sorted((where, len(held)) for where, held in pieces) for pieces in (first, second)]
    if counts[0] != counts[1]:
        assert not same(state(first), state(second))
