"""The string of GetJobBookmark, as accounts and as ports of this machine answer it."""

from __future__ import annotations

import json

import pytest

from tidemark.operate.bookmark_states import BandPlace, band_of, place_of, states_of

STARTED_MS = 1_357_041_600_000  # 2013-01-01T12:00:00Z
TIMES = {
    "RUN": "2",
    "HIGH_BAND": "900000",
    "CURR_LATEST_PARTITION": "0",
    "CURR_LATEST_PARTITIONS": "",
    "CURR_RUN_START_TIME": "2013-01-01T12:00:00.000Z",
    "INCLUDE_LIST": "0cc175b9c0f1b6a831c399e269772661,92eb5ffee6ae2fec3ad71c777531578f",
}
S3_STATE = {"jsonClass": "HadoopDataSourceJobBookmarkState", "timestamps": TIMES}


def states(document: object) -> dict:
    return states_of({"JobBookmark": json.dumps(document)})


def test_a_source_of_s3_of_an_account_has_a_mark_a_band_and_the_objects_of_the_band():
    (state,) = states({"orders": S3_STATE}).values()

    assert (state["kind"], state["high_ms"], state["low_ms"]) == (
        "s3",
        STARTED_MS,
        STARTED_MS - 900_000,
    )
    assert len(state["recent"]) == 2
    first_run = S3_STATE | {"timestamps": TIMES | {"INCLUDE_LIST": ""}}
    assert states({"orders": first_run})["orders"]["recent"] == []


@pytest.mark.parametrize(
    "found",
    [
        {"jsonClass": "Another", "n": 1},
        {"jsonClass": "Another", "timestamps": {"HIGH_BAND": "1"}},
        {"jsonClass": "Another", "timestamps": TIMES | {"CURR_RUN_START_TIME": "soon"}},
    ],
)
def test_what_has_another_form_stays_as_it_is_and_has_no_mark(found):
    assert states({"rows": found}) == {"rows": {"kind": "Another", **found}}
    assert band_of(states({"rows": found}).values()) is None


def test_a_document_of_a_port_holds_its_states_and_what_is_no_json_is_shown():
    assert states({"job_name": "load", "states": {"ctx": {"n": 1}}}) == {"ctx": {"n": 1}}
    assert states({}) == states_of({}) == {}
    assert states_of({"JobBookmark": "sealed"}) == {"": {"kind": "-", "JobBookmark": "sealed"}}


def test_an_object_is_older_only_than_every_band_and_newer_only_than_every_mark():
    later = S3_STATE | {"timestamps": TIMES | {"CURR_RUN_START_TIME": "2013-01-01T13:00:00Z"}}
    band = band_of(states({"orders": S3_STATE, "later": later}).values())

    assert band == (STARTED_MS - 900_000, STARTED_MS + 3_600_000)
    assert [place_of(at, band) for at in (band[0], band[0] + 1, band[1], band[1] + 1)] == [
        BandPlace.OLDER,
        BandPlace.BAND,
        BandPlace.BAND,
        BandPlace.NEWER,
    ]
