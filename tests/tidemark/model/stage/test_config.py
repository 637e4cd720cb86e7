"""The context of a stage: what is accepted, and one clear line for what is not."""

import json

import pytest

import app
from tidemark.app import CONTEXT, read_context
from tidemark.errors import ConfigError
from tidemark.model.schedules.schedules import Schedule
from tidemark.model.stage.config import StageConfig
from tidemark.model.stage.runtime import JobRuntime

DEV = {
    "workerType": "G.1X",
    "numberOfWorkers": 2,
    "timeoutMinutes": 60,
    "terminationProtection": False,
}


def context(stage="dev", **fields):
    return {"stage": stage, "tidemark:stages": {"dev": DEV | fields}}


def test_what_a_stage_leaves_out_is_the_deployers_account_and_region_by_hand():
    stage = StageConfig.from_context(context())

    assert stage == StageConfig(
        name="dev",
        account=None,
        region=None,
        schedule=None,
        runtime=JobRuntime("G.1X", 2, timeout_minutes=60),
        termination_protection=False,
    )


def test_a_stage_may_name_its_account_region_and_schedule():
    stage = StageConfig.from_context(
        context(
            account="123456789012",
            region="eu-west-1",
            schedule="cron(0 6 ? * MON-FRI *)",
            timeZone="Europe/Berlin",
        )
    )

    assert (stage.account, stage.region) == ("123456789012", "eu-west-1")
    assert stage.starts == Schedule("cron(0 6 ? * MON-FRI *)", "Europe/Berlin")


def test_a_schedule_is_read_in_utc_if_the_stage_names_no_time_zone():
    for fields in ({}, {"timeZone": None}, {"timeZone": "UTC"}):
        stage = StageConfig.from_context(context(schedule="rate(1 hour)", **fields))

        assert stage.starts == Schedule("rate(1 hour)", "UTC")


def test_keys_of_the_project_are_kept_as_they_are_and_the_context_overrides_them():
    given = context(own={"a": 1}, other=[2]) | {"other": "3"}

    stage = StageConfig.from_context(given, ("own", "other", "none"))

    assert stage.own == {"own": {"a": 1}, "other": "3"}


def test_names_begin_with_the_prefix_of_the_stage():
    stage = StageConfig.from_context(context(namePrefix="acme-data"))

    assert stage.name_of("storage") == "acme-data-dev-storage"
    assert StageConfig.from_context(context()).name_of() == "tidemark-dev"


def test_what_is_in_the_environment_overrides_cdk_json(tmp_path):
    cdk_json = tmp_path / "cdk.json"
    cdk_json.write_text('{"context": {"stage": "dev", "kept": 1}}')

    merged = read_context(cdk_json, '{"stage": "prod"}')

    assert merged == CONTEXT | {"stage": "prod", "kept": 1}


BAD = {
    "not-json": ("{stage", "CDK_CONTEXT_JSON is not JSON"),
    "not-an-object": ("[]", "allowed: a JSON object"),
    "unknown-stage": ({"stage": "test"}, 'unknown stage "test"; allowed: dev, prod'),
    "stage-not-a-text": ({"stage": 7}, "unknown stage 7; allowed: dev, prod"),
    "stage-null": ({"stage": None}, "unknown stage null"),
    "no-stages": ({"tidemark:stages": {}}, "allowed: none yet"),
    "stages-not-an-object": ({"tidemark:stages": "dev"}, "context 'tidemark:stages' is \"dev\""),
    "stages-null": ({"tidemark:stages": None}, "context 'tidemark:stages' is null"),
    "stage-name-for-no-resource": (
        {"stage": "My_Stage", "tidemark:stages": {"My_Stage": DEV}},
        'stage name "My_Stage" cannot be part of a resource name',
    ),
    "fields-not-an-object": ({"tidemark:stages": {"dev": []}}, "stage 'dev' is []"),
    "unknown-key": (context(workers=3), "stage 'dev' has an unknown key 'workers'; allowed: "),
    "missing-key": (
        {"tidemark:stages": {"dev": {"workerType": "G.1X"}}},
        "stage 'dev' has no 'numberOfWorkers'",
    ),
    "account-a-number": (context(account=123456789012), "stage 'dev' has account 123456789012"),
    "account-too-short": (context(account="1234"), "allowed: null or 12 digits in quotes"),
    "region": (context(region="Ireland"), "stage 'dev' has region \"Ireland\""),
    "schedule-five-fields": (context(schedule="cron(0 6 * * ?)"), "has 5 fields"),
    "schedule-two-days": (context(schedule="cron(0 6 1 * MON *)"), "? for exactly one"),
    "schedule-over-midnight": (context(schedule="cron(0 22-2 * * ? *)"), "write 22-23,0-2"),
    "schedule-goes-down": (context(schedule="cron(5-1 6 * * ? *)"), "write 5-59,0-1"),
    "schedule-never": (context(schedule="cron(0 0 31 2 ? *)"), "no future time in UTC"),
    "schedule-too-fine": (context(schedule="cron(0/3 * * * ? *)"), "allowed: 5 min or more"),
    "schedule-rate": (context(schedule="rate(1 hours)"), "allowed with 1: hour"),
    "schedule-empty": (context(schedule=""), 'has schedule ""; allowed: null or cron'),
    "schedule-a-number": (context(schedule=6), "stage 'dev' has schedule 6; allowed: null or cron"),
    "time-zone": (context(timeZone="europe/berlin"), "did you mean Europe/Berlin?"),
    "time-zone-a-number": (context(timeZone=1), "stage 'dev' has timeZone 1"),
    "worker-type": (context(workerType="G.3X"), "allowed: G.1X, G.2X"),
    "one-worker": (context(numberOfWorkers=1), "allowed: an integer from 2 to 299"),
    "workers-true": (context(numberOfWorkers=True), "stage 'dev' has numberOfWorkers true"),
    "timeout-a-text": (context(timeoutMinutes="60"), "stage 'dev' has timeoutMinutes \"60\""),
    "timeout-eight-days": (context(timeoutMinutes=11_520), "from 1 to 10080"),
    "protection-a-text": (context(terminationProtection="yes"), "allowed: true, false"),
    "key-misspelt": ({"stgae": "prod"}, 'unknown context key "stgae"; allowed: stage, tidemark'),
    "name-prefix": (context(namePrefix="Acme_"), 'has namePrefix "Acme_"; allowed: up to 20'),
    "key-in-lower-case": ({"flightssource": "{}"}, "did you mean 'flightsSource'?"),
}


@pytest.mark.parametrize(("given", "message"), BAD.values(), ids=BAD.keys())
def test_a_bad_context_ends_with_one_line_and_code_2(given, message, monkeypatch, capsys):
    monkeypatch.setenv("CDK_CONTEXT_JSON", given if isinstance(given, str) else json.dumps(given))

    code = app.main()

    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1
    assert err.endswith("\n")


@pytest.mark.parametrize(
    "tags",
    [
        {"aws:owner": "data"},
        {"AWS:owner": "data"},
        {"tidemark:stage": "mine"},
        {"tidemark:pipeline": "mine"},
        {"k" * 129: "v"},
        {"k": "v" * 257},
        {"k;": "v"},
        {"k": "<v>"},
    ],
    ids=range(8),
)
def test_a_tag_that_aws_refuses_or_that_is_ours_is_refused(tags):
    with pytest.raises(ValueError, match=r"has the tag .* allowed: names of 1 to 128 and values"):
        StageConfig.from_context(context(tags=tags))


def test_more_tags_than_a_resource_may_have_are_refused():
    with pytest.raises(ValueError, match="has 49 tags; allowed: 48; remove some"):
        StageConfig.from_context(context(tags={f"k{number}": "v" for number in range(49)}))


def test_connections_and_what_a_stage_forbids_are_read_from_the_context():
    stage = StageConfig.from_context(
        context(connections=["office", "db"], vpcOnly=True, publicPackages=False)
    )

    assert stage.connections == ("office", "db")
    assert (stage.vpc_only, stage.public_packages) == (True, False)
    plain = StageConfig.from_context(context())
    assert (plain.connections, plain.vpc_only, plain.public_packages) == ((), False, True)


def test_tags_of_any_language_are_taken():
    tags = {"Kostenstelle": "Grün 7", "a/b:c=d+e-f@g.h_i": ""}

    assert StageConfig.from_context(context(tags=tags)).tags == tags


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"log_retention_days": 10}, "stage 'dev' has log_retention_days 10; allowed: 1, 3, 5, 7"),
        ({"freshness_hours": 1000}, "freshness_hours 1000; allowed: an integer from 1 to 168"),
        ({"account": "abc"}, 'account "abc"; allowed: null or 12 digits'),
        ({"account": 123456789012}, "account 123456789012; allowed: null or 12 digits"),
        ({"region": "Ireland"}, 'region "Ireland"'),
        ({"tags": {"aws:x": "y"}}, 'has the tag "aws:x"'),
        ({"tags": ["x"]}, 'tags ["x"]; allowed: a JSON object of strings'),
        ({"alert_email": "nobody"}, 'alert_email "nobody"; allowed: null or a mail address'),
        ({"schedule": ""}, 'schedule ""; allowed: null or '),
        ({"permissions_boundary": "arn:aws:iam::1:policy/b"}, "the name (no ARN) of an IAM policy"),
        ({"permissions_boundary": "/team/b"}, "the name (no ARN) of an IAM policy"),
        ({"github_repository": "acme"}, "owner/name of a GitHub repository"),
        ({"dpu_hours_per_day": 0, "metrics": True}, "dpu_hours_per_day 0"),
        ({"termination_protection": "yes"}, 'termination_protection "yes"; allowed: true, false'),
        ({"metrics": 1}, "metrics 1; allowed: true, false"),
        ({"name": None}, "stage name null cannot be part"),
        ({"runtime": {"flex": True}}, "has runtime {'flex': True}; allowed"),
        ({"own": "files"}, "has own 'files'; allowed: Mapping"),
        ({"connections": "net"}, 'connections "net"; allowed: a list of names of Glue'),
        ({"connections": ["*"]}, 'connections ["*"]; allowed: a list of names of Glue'),
        ({"vpc_only": "yes"}, 'vpc_only "yes"; allowed: true, false'),
        ({"public_packages": None}, "public_packages null; allowed: true, false"),
        ({"name_prefix": "-a"}, 'name_prefix "-a"; allowed: up to 20'),
    ],
)
def test_a_stage_made_in_code_is_held_to_the_same(wrong, text):
    good = {"name": "dev", "account": None, "region": None, "schedule": None}

    with pytest.raises(ConfigError) as error:
        StageConfig(**{**good, "runtime": JobRuntime(), **wrong})

    assert text in str(error.value)
    assert "\n" not in str(error.value)
