from dataclasses import replace
from pathlib import Path

import boto3
import pytest
from click.testing import CliRunner
from moto import mock_aws

from sample.__main__ import main
from sample.land import land_delivery_in_stage, land_delivery_locally, write_object
from sample.landing import plan_delivery
from tidemark.errors import UsageError
from tidemark.glue_service.commands import load_app
from tidemark.local_state.home import Home

STACK = """
{"Resources": {"Landing": {"Type": "AWS::S3::Bucket"}},
 "Outputs": {"LandingBucketName": {"Value": {"Ref": "Landing"}}}}
"""
POSTGRES = "jdbc:postgresql://db/air"


@pytest.fixture
def account(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.chdir(Path(__file__).parents[2])  # whose cdk.json names the stages
    with mock_aws():
        yield


@pytest.fixture
def stage(account):
    """A deployed storage stack without a pipeline."""
    boto3.client("cloudformation").create_stack(
        StackName="tidemark-dev-storage", TemplateBody=STACK
    )


def create_flights_job(**arguments: str) -> None:
    boto3.client("glue").create_job(
        Name="ingest-flights",
        Role="arn:aws:iam::123456789012:role/job",
        Command={"Name": "glueetl", "ScriptLocation": "s3://assets/ingest.py"},
        DefaultArguments=arguments,
    )


def keys(bucket: str) -> list[str]:
    found = boto3.client("s3").list_objects_v2(Bucket=bucket)["Contents"]
    return [entry["Key"] for entry in found]


@pytest.mark.parametrize("is_pipeline_deployed", [True, False])
def test_land_uploads_to_the_landing_bucket_of_a_deployed_stage(
    stage, is_pipeline_deployed
) -> None:
    if is_pipeline_deployed:
        create_flights_job(**{"--source": "files"})

    bucket = land_delivery_in_stage(plan_delivery("1", None, None), "dev")

    assert keys(bucket) == [
        "flights/landed_on=2013-01-02/flights-2013-01-01.csv",
        "weather/2013-01-01.json",
    ]


def test_landing_in_a_stage_that_is_not_deployed_says_so(account) -> None:
    with pytest.raises(UsageError, match=r"stage prod .*tidemark-prod-storage.*deploy it first"):
        land_delivery_in_stage(plan_delivery("1", None, None), "prod")


def test_flights_of_a_deployed_stage_with_a_database_are_left_to_its_owner(stage) -> None:
    create_flights_job(**{"--source": "jdbc", "--jdbc_url": POSTGRES})

    with pytest.raises(UsageError, match=f"reads {POSTGRES}; .* --only weather"):
        land_delivery_in_stage(plan_delivery("1", None, None), "dev")

    bucket = land_delivery_in_stage(plan_delivery("1", "weather", None), "dev")
    assert keys(bucket) == ["weather/2013-01-01.json"]


def test_flights_of_another_database_are_left_to_its_owner(home, write_assembly) -> None:
    deployment = load_app(write_assembly({"ingest-flights": ""})).deployment
    job = replace(deployment.jobs["ingest-flights"], default_arguments={"--jdbc_url": POSTGRES})
    deployment = replace(deployment, jobs={job.name: job})
    state = Home.open(home)

    with pytest.raises(UsageError, match=f"reads {POSTGRES}; .* --only weather"):
        land_delivery_locally(plan_delivery("1", None, None), deployment, state)

    land_delivery_locally(plan_delivery("1", "weather", None), deployment, state)
    assert (state.lake / "landing" / "weather" / "2013-01-01.json").is_file()


def test_flights_and_weather_land_as_files_of_the_landing_bucket(home, write_assembly) -> None:
    deployment = load_app(write_assembly({"ingest-flights": ""})).deployment
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
    deployment = load_app(write_assembly({"ingest-flights": ""})).deployment
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


@pytest.mark.parametrize("option", ["--app=cdk.out", "--context=stage=prod"])
def test_landing_in_aws_takes_no_option_of_a_local_run(home, option) -> None:
    result = CliRunner().invoke(main, ["land", "--days", "1", "--deployed", "dev", option])

    assert result.exit_code == 2
    assert "takes neither --app nor --context" in result.stderr
    assert len(result.stderr.splitlines()) == 1
