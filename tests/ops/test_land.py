import boto3
import pytest
from moto import mock_aws

from local_glue.commands import load
from local_glue.errors import UsageError
from local_glue.home import Home
from ops.land import land_delivery_locally, land_in_stage, write_object
from sample_data.landing import plan_delivery

STACK = """
{"Resources": {"Landing": {"Type": "AWS::S3::Bucket"}},
 "Outputs": {"LandingBucketName": {"Value": {"Ref": "Landing"}}}}
"""


@pytest.fixture
def account(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with mock_aws():
        yield


def test_land_uploads_to_the_landing_bucket_of_a_deployed_stage(account) -> None:
    boto3.client("cloudformation").create_stack(
        StackName="tidemark-dev-storage", TemplateBody=STACK
    )

    bucket = land_in_stage({"weather/2013-01-01.json": b"{}\n"}, "dev")

    body = boto3.client("s3").get_object(Bucket=bucket, Key="weather/2013-01-01.json")["Body"]
    assert body.read() == b"{}\n"


def test_landing_in_a_stage_that_is_not_deployed_says_so(account) -> None:
    with pytest.raises(UsageError, match=r"tidemark-prod-storage.*deploy the stage first"):
        land_in_stage({}, "prod")


def test_flights_and_weather_land_as_files_of_the_landing_bucket(home, write_assembly) -> None:
    deployment = load(write_assembly({"ingest-flights": ""}))
    state = Home.open(home)

    land_delivery_locally(plan_delivery("1..2", None, None), deployment, state)

    landed = sorted(
        path.relative_to(state.lake).as_posix() for path in state.lake.rglob("*") if path.is_file()
    )
    assert landed == [
        "landing/flights/landed_on=2013-01-02/flights-2013-01-01.csv",
        "landing/flights/landed_on=2013-01-03/flights-2013-01-02.csv",
        "landing/weather/2013-01-01.json",
        "landing/weather/2013-01-02.json",
    ]


def test_corrections_land_with_the_last_day(home, write_assembly) -> None:
    deployment = load(write_assembly({"ingest-flights": ""}))
    state = Home.open(home)

    land_delivery_locally(plan_delivery("3", "flights", "1"), deployment, state)

    folder = state.lake / "landing" / "flights" / "landed_on=2013-01-04"
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["corrections-2013-01-01.csv", "flights-2013-01-03.csv"]


def test_an_object_appears_whole_and_leaves_nothing_else_behind(tmp_path) -> None:
    write_object(tmp_path / "a" / "b.json", b"old")
    write_object(tmp_path / "a" / "b.json", b"new")

    assert [p.name for p in (tmp_path / "a").iterdir()] == ["b.json"]
    assert (tmp_path / "a" / "b.json").read_bytes() == b"new"
