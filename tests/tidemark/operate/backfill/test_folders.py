"""Files and the days that their folders say."""

from __future__ import annotations

from datetime import date

import pytest

from tidemark.operate.backfill.folders import day_of_key, folders_of
from tidemark.operate.backfill.ledger import Folder
from tidemark.operate.backfill.ranges import Span

DAY = date(2013, 1, 31)


@pytest.mark.parametrize(
    "key",
    [
        "landed_on=2013-01-31/a.csv",
        "dt=20130131/a.csv",
        "region=eu/dt=2013-01-31/hour=10/a.csv",
        "window=0001-ab/attempt=1/flight_date=2013-01-31/a.parquet",
        "year=2013/month=01/day=31/a.csv",
        "Year=2013/Month=1/Day=31/a.csv",
        "2013/01/31/10/a.csv",
        "hour=2013-01-31-10/a.csv",
        "at=2013-01-31 10:00:00/a.csv",
        "orders-2013-01-31.csv",
        "eu/2013-01-31T10.json.gz",
    ],
)
def test_a_folder_tells_the_day(key):
    assert day_of_key(key) == DAY


@pytest.mark.parametrize(
    "key",
    [
        "a.csv",
        "dt=2013-02-31/a.csv",
        "dt=__HIVE_DEFAULT_PARTITION__/a.csv",
        "n=20130131a/a",
        "a-2013-01-01-to-2013-01-31.csv",
        "12013-01-31.csv",
        "year=2013/month=01/a.csv",
        "year=2013/month=x/day=1/a.csv",
        "landed_on=2013-01-31/flight_date=2013-01-30/a.csv",
    ],
)
def test_a_key_of_no_day_or_of_two_has_none(key):
    assert day_of_key(key) is None


def test_the_column_that_a_job_names_counts():
    key = "landed_on=2013-01-31/flight_date=2013-01-30/a.csv"

    assert day_of_key(key, "landed_on") == DAY
    assert day_of_key(key, "arrived_on") is None


def test_a_day_has_the_times_of_its_oldest_and_newest_file():
    files = [("dt=2013-01-31/b", 5), ("dt=2013-01-31/x=1/a", 3), ("dt=2013-01-30/a", 9), ("a", 1)]
    files += [("dt=2013-01-31/_SUCCESS", 50), ("dt=2013-01-30/_temporary/0/a", 60)]
    point = DAY.toordinal()

    assert folders_of(files, 7) == [
        Folder(Span(point - 1, point), 9, 9, 7),
        Folder(Span(point, point + 1), 3, 5, 7),
    ]
