"""Regions: those that botocore knows, and newer ones by name."""

import json
from importlib.resources import files

import pytest

from tidemark.errors import ConfigError
from tidemark.model.stage.settings import NEW_REGIONS, REGIONS, check_region


def test_the_regions_are_those_of_botocore():
    text = files("botocore").joinpath("data/partitions.json").read_text(encoding="utf-8")
    known = {name for one in json.loads(text)["partitions"] for name in one["regions"]}

    assert {name for name in known if not name.endswith("-global")} == REGIONS


@pytest.mark.parametrize(
    ("region", "meant"),
    [("eu-wset-1", "eu-west-1"), ("us-eats-1", "us-east-1"), ("eu-west-9", "eu-west-")],
)
def test_a_region_that_is_not_known_is_refused_with_what_is_meant(region, meant):
    with pytest.raises(ConfigError, match=f"the stage has region '{region}'.*mean {meant}"):
        check_region(region, "the stage")


def test_a_newer_region_is_taken_if_it_is_named(monkeypatch):
    monkeypatch.setenv(NEW_REGIONS, "eu-east-7, ap-north-1")

    check_region("ap-north-1", "the stage")
    with pytest.raises(ConfigError, match="TIDEMARK_NEW_REGIONS=eu-wset-1"):
        check_region("eu-wset-1", "the stage")
