"""Values as pandas hands them over: finer than what is stored, or none at all."""

from __future__ import annotations

import pandas as pd
import pytest

from watermarks import WatermarkValueError
from watermarks.table.values import decode, encode


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (pd.Timestamp("2024-01-01T00:00:00.000000001Z"), r"finer than the microseconds .*floor"),
        (pd.Timestamp("2024-01-01T00:00:00.000000999"), "finer than the microseconds"),
        (pd.NaT, "is NaT, no point in time"),
    ],
    ids=str,
)
def test_what_pandas_has_and_cannot_be_stored_is_refused(value, message):
    with pytest.raises(WatermarkValueError, match=message):
        encode({"high": value}, "watermarks")


def test_timestamp_of_whole_microseconds_comes_back_as_the_same_instant():
    value = pd.Timestamp("2024-01-01T00:00:00.000001", tz="Europe/London")

    assert decode(*encode(value, "high")) == value


def test_the_newest_of_an_empty_frame_is_nothing_new(watermarks, job):
    request = {"job_id": job, "run_id": "jr_1", "cursor": "at"}

    assert watermarks.open_window(
        **request, high=pd.Series([], dtype="datetime64[us]").max()
    ).is_empty
