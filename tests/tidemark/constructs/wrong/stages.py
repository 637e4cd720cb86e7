"""Stages in code and in cdk.json, schedules."""

import datetime

import tidemark.constructs as tc
from tests.fixtures.pipelines import stage_of
from tests.tidemark.constructs.wrong.world import cdk, context, token
from tidemark.model.stage.config import StageConfig

# What is declared, and a part of why it is refused.
WRONG = {
    "st name none": (
        lambda w: StageConfig(None, None, None, None, tc.JobRuntime()),
        "stage name null cannot be part of a resource name",
    ),
    "st name upper": (
        lambda w: StageConfig("Dev", None, None, None, tc.JobRuntime()),
        'stage name "Dev" cannot be part of a resource name',
    ),
    "st name 17": (
        lambda w: StageConfig("a" * 17, None, None, None, tc.JobRuntime()),
        'stage name "aaaaaaaaaaaaaaaaa" cannot be part of a resource name',
    ),
    "st account int": (
        lambda w: stage_of(account=123456789012),
        "stage 'dev' has account 123456789012",
    ),
    "st account 11": (
        lambda w: stage_of(account="12345678901"),
        "stage 'dev' has account \"12345678901\"",
    ),
    "st region": (lambda w: stage_of(region="europe"), "stage 'dev' has region \"europe\""),
    "st schedule rate 1 minute": (
        lambda w: stage_of(schedule="rate(1 minute)"),
        "stage 'dev': schedule \"rate(1 minute)\" has firings 1 min apart",
    ),
    "st schedule empty": (lambda w: stage_of(schedule=""), "stage 'dev' has schedule \"\""),
    "st schedule cron5": (
        lambda w: stage_of(schedule="cron(0 6 * * *)"),
        "stage 'dev': schedule \"cron(0 6 * * *)\" has 5 fields",
    ),
    "st schedule obj": (
        lambda w: stage_of(schedule=tc.Schedule("rate(1 hour)")),
        "stage 'dev' has schedule \"Schedule(expression='rate(1 hour)',",
    ),
    "st schedule list": (
        lambda w: stage_of(schedule=["rate(1 hour)"]),
        "stage 'dev' has schedule [\"rate(1 hour)\"]",
    ),
    "st zone": (
        lambda w: stage_of(time_zone="Europe/Zuerich"),
        "stage 'dev': time zone \"Europe/Zuerich\" is not known",
    ),
    "st zone none": (lambda w: stage_of(time_zone=None), "stage 'dev': a schedule has null"),
    "st zone obj": (
        lambda w: stage_of(time_zone=datetime.UTC),
        "stage 'dev' has time_zone \"datetime.timezone.utc\"",
    ),
    "st runtime dict": (lambda w: stage_of(runtime={}), "stage 'dev' has runtime {}"),
    "st runtime none": (lambda w: stage_of(runtime=None), "stage 'dev' has runtime None"),
    "st retention 10": (
        lambda w: stage_of(log_retention_days=10),
        "stage 'dev' has log_retention_days 10",
    ),
    "st retention none": (
        lambda w: stage_of(log_retention_days=None),
        "stage 'dev' has log_retention_days null",
    ),
    "st email": (
        lambda w: stage_of(alert_email="nobody"),
        "stage 'dev' has alert_email \"nobody\"",
    ),
    "st email list": (
        lambda w: stage_of(alert_email=["a@b.ch"]),
        "stage 'dev' has alert_email [\"a@b.ch\"]",
    ),
    "st boundary arn": (
        lambda w: stage_of(permissions_boundary="arn:aws:iam::123456789012:policy/x"),
        "stage 'dev' has permissions_boundary",
    ),
    "st boundary empty": (
        lambda w: stage_of(permissions_boundary=""),
        "stage 'dev' has permissions_boundary \"\"",
    ),
    "st fresh 169": (
        lambda w: stage_of(freshness_hours=169),
        "stage 'dev' has freshness_hours 169",
    ),
    "st fresh bool": (
        lambda w: stage_of(freshness_hours=True),
        "stage 'dev' has freshness_hours true",
    ),
    "st fresh 0": (lambda w: stage_of(freshness_hours=0), "stage 'dev' has freshness_hours 0"),
    "st dpu w/o metrics": (
        lambda w: stage_of(dpu_hours_per_day=4),
        "stage 'dev' has dpuHoursPerDay, which is measured by metrics",
    ),
    "st dpu float": (
        lambda w: stage_of(dpu_hours_per_day=1.5, metrics=True),
        "stage 'dev' has dpu_hours_per_day 1.5",
    ),
    "st budget w/o mail": (
        lambda w: stage_of(monthly_budget_usd=100),
        "stage 'dev' has monthlyBudgetUsd and no alertEmail to mail to",
    ),
    "st budget 0": (
        lambda w: stage_of(monthly_budget_usd=0),
        "stage 'dev' has monthly_budget_usd 0",
    ),
    "st github": (
        lambda w: stage_of(github_repository="https://github.com/a/b"),
        "stage 'dev' has github_repository \"https://github.com/a/b\"",
    ),
    "st tags aws": (
        lambda w: stage_of(tags={"aws:x": "y"}),
        'stage \'dev\' has the tag "aws:x" with the value "y"',
    ),
    "st tags list": (lambda w: stage_of(tags=["a"]), "stage 'dev' has tags [\"a\"]"),
    "st tags none": (lambda w: stage_of(tags=None), "stage 'dev' has tags null"),
    "st tags 49": (
        lambda w: stage_of(tags={f"t{i}": "x" for i in range(49)}),
        "stage 'dev' has 49 tags",
    ),
    "st prefix upper": (
        lambda w: stage_of(name_prefix="Acme"),
        "stage 'dev' has name_prefix \"Acme\"",
    ),
    "st prefix none": (lambda w: stage_of(name_prefix=None), "stage 'dev' has name_prefix None"),
    "st prefix 21": (
        lambda w: stage_of(name_prefix="a" * 21),
        "stage 'dev' has name_prefix \"aaaaaaaaaaaaaaaaaaaaa\"",
    ),
    "st connections str": (
        lambda w: stage_of(connections="vpc"),
        "stage 'dev' has connections \"vpc\"",
    ),
    "st connections [none]": (
        lambda w: stage_of(connections=[None]),
        "stage 'dev' has connections [null]",
    ),
    "st vpc str": (lambda w: stage_of(vpc_only="yes"), "stage 'dev' has vpc_only \"yes\""),
    "st vpc none": (lambda w: stage_of(vpc_only=None), "stage 'dev' has vpc_only null"),
    "st packages int": (lambda w: stage_of(public_packages=0), "stage 'dev' has public_packages 0"),
    "st own list": (lambda w: stage_of(own=[]), "stage 'dev' has own []"),
    "st termination str": (
        lambda w: stage_of(termination_protection="yes"),
        "stage 'dev' has termination_protection \"yes\"",
    ),
    "st metrics none": (lambda w: stage_of(metrics=None), "stage 'dev' has metrics null"),
    "st account token": (
        lambda w: stage_of(account=token()),
        "allowed: null or 12 digits in quotes",
    ),
    "st account AWS_ACCOUNT": (
        lambda w: stage_of(account=cdk.Aws.ACCOUNT_ID),
        "allowed: null or 12 digits in quotes",
    ),
    "st name 'dev\\n'": (
        lambda w: StageConfig("dev\n", None, None, None, tc.JobRuntime()),
        'stage name "dev\\n" cannot be part of a resource name',
    ),
    "st own none": (lambda w: stage_of(own=None), "stage 'dev' has own None"),
    "st vpc job without": (
        lambda w: w.job(pipeline=w.pipeline("x", stage=stage_of(vpc_only=True))),
        "job 'one' has no connection, and the stage says vpcOnly",
    ),
    "st vpc job empty list": (
        lambda w: w.job(
            connections=[],
            pipeline=w.pipeline("x", stage=stage_of(vpc_only=True, connections=("c",))),
        ),
        "job 'one' has no connection, and the stage says vpcOnly",
    ),
    "st vpc crawler": (
        lambda w: w.crawler(
            pipeline=w.pipeline("x", stage=stage_of(vpc_only=True, connections=("c",)))
        ),
        "crawler 'crawl' has a target without a connection, and the",
    ),
    "st vpc shell": (
        lambda w: w.shell(pipeline=w.pipeline("x", stage=stage_of(vpc_only=True))),
        "job 'one' has no connection, and the stage says vpcOnly",
    ),
    "st vpc stream": (
        lambda w: w.stream(pipeline=w.pipeline("x", stage=stage_of(vpc_only=True))),
        "job 'one' has no connection, and the stage says vpcOnly",
    ),
    "st pkg modules": (
        lambda w: w.job(
            python_modules=["a==1"], pipeline=w.pipeline("x", stage=stage_of(public_packages=False))
        ),
        "job 'one' has 'a==1', with which Glue asks a public index of",
    ),
    "st pkg shell": (
        lambda w: w.shell(
            python_modules=["a==1"], pipeline=w.pipeline("x", stage=stage_of(public_packages=False))
        ),
        "job 'one' has 'a==1', with which Glue asks a public index of",
    ),
    "cj unknown key": (lambda w: context(workers=3), "stage 'dev' has an unknown key 'workers'"),
    "cj misspelt": (
        lambda w: context(numberOfWorker=3),
        "stage 'dev' has an unknown key 'numberOfWorker'",
    ),
    "cj workers str": (
        lambda w: context(numberOfWorkers="3"),
        "stage 'dev' has numberOfWorkers \"3\"",
    ),
    "cj workers 0": (lambda w: context(numberOfWorkers=0), "stage 'dev' has numberOfWorkers 0"),
    "cj G.2X 200": (
        lambda w: context(workerType="G.2X", numberOfWorkers=200),
        "stage 'dev': number_of_workers is 200",
    ),
    "cj account int": (
        lambda w: context(account=123456789012),
        "stage 'dev' has account 123456789012",
    ),
    "cj flex G.4X": (
        lambda w: context(workerType="G.4X", flex=True),
        "stage 'dev': flex is set with worker_type 'G.4X'",
    ),
    "cj connections str": (
        lambda w: context(connections="vpc"),
        "stage 'dev' has connections \"vpc\"",
    ),
    "cj vpc str": (lambda w: context(vpcOnly="true"), "stage 'dev' has vpcOnly \"true\""),
    "cj vpc null": (lambda w: context(vpcOnly=None), "stage 'dev' has vpcOnly null"),
    "cj tags int": (lambda w: context(tags={"a": 1}), "stage 'dev' has tags {\"a\": 1}"),
    "cj schedule": (
        lambda w: context(schedule="cron(0 25 * * ? *)"),
        'stage \'dev\': schedule "cron(0 25 * * ? *)" has the hours "25"',
    ),
    "cj zone": (
        lambda w: context(timeZone="UTC+1"),
        "stage 'dev': time zone \"UTC+1\" is not known",
    ),
    "cj snake": (
        lambda w: context(worker_type="G.1X"),
        "stage 'dev' has an unknown key 'worker_type'",
    ),
    "cj stages list": (
        lambda w: StageConfig.from_context({"stage": "dev", "tidemark:stages": []}),
        "context 'tidemark:stages' is []",
    ),
    "cj stage none": (
        lambda w: StageConfig.from_context({"tidemark:stages": {"dev": {}}}),
        "unknown stage null",
    ),
    "cj stage other": (
        lambda w: StageConfig.from_context({"stage": "x", "tidemark:stages": {"dev": {}}}),
        'unknown stage "x"',
    ),
    "cj stage null": (
        lambda w: StageConfig.from_context({"stage": "dev", "tidemark:stages": {"dev": None}}),
        "stage 'dev' is null",
    ),
    "cj version num": (lambda w: context(glueVersion=5.1), "stage 'dev' has glueVersion 5.1"),
    "cj retention": (lambda w: context(logRetentionDays=31), "stage 'dev' has logRetentionDays 31"),
    "cj flag num": (lambda w: context(flex=1), "stage 'dev' has flex 1"),
    "cj prefix": (lambda w: context(namePrefix="A"), "stage 'dev' has namePrefix \"A\""),
    "cj secret tag": (
        lambda w: context(tags={"password": "hunter2"}),
        "stage 'dev' has the tag \"password\" with a value that looks like",
    ),
    "cj email": (lambda w: context(alertEmail="a@b"), "stage 'dev' has alertEmail \"a@b\""),
    "cj runtime": (lambda w: context(runtime={}), "stage 'dev' has an unknown key 'runtime'"),
    "sch none": (lambda w: tc.Schedule(None), "a schedule has null"),
    "sch at": (
        lambda w: tc.Schedule("at(2026-11-20T13:00:00)"),
        'schedule "at(2026-11-20T13:00:00)" has neither cron(...) nor',
    ),
    "sch dom+dow": (
        lambda w: tc.Schedule("cron(0 6 1 * MON *)"),
        'schedule "cron(0 6 1 * MON *)" has the day-of-month "1" and the',
    ),
    "sch both ?": (
        lambda w: tc.Schedule("cron(0 6 ? * ? *)"),
        'schedule "cron(0 6 ? * ? *)" has the day-of-month "?" and the',
    ),
    "sch lower": (
        lambda w: tc.Schedule("cron(0 6 ? * mon *)"),
        'schedule "cron(0 6 ? * mon *)" has the day-of-week "mon"',
    ),
    "sch 31 feb": (
        lambda w: tc.Schedule("cron(0 6 31 2 ? *)"),
        'schedule "cron(0 6 31 2 ? *)" has no future time in UTC',
    ),
    "sch past": (
        lambda w: tc.Schedule("cron(0 6 * * ? 2020)"),
        'schedule "cron(0 6 * * ? 2020)" has no future time in UTC',
    ),
    "sch token": (
        lambda w: tc.Schedule(token()),
        "allowed: cron(minutes hours day-of-month month day-of-week",
    ),
    "sch nl": (
        lambda w: tc.Schedule("cron(0 6 * * ? *)\n"),
        'schedule "cron(0 6 * * ? *)\\n" has 0 fields',
    ),
    "sch rate 1 hours": (
        lambda w: tc.Schedule("rate(1 hours)"),
        'schedule "rate(1 hours)" has the unit hours',
    ),
    "sch space": (
        lambda w: tc.Schedule(" rate(1 hour)"),
        'schedule " rate(1 hour)" has neither cron(...) nor rate(...)',
    ),
    "sch desc": (
        lambda w: tc.Schedule("cron(5-1 6 * * ? *)"),
        'schedule "cron(5-1 6 * * ? *)" has the minutes "5-1"',
    ),
    "sch month13": (
        lambda w: tc.Schedule("cron(0 6 1 13 ? *)"),
        'schedule "cron(0 6 1 13 ? *)" has the month "13"',
    ),
    "sch zone int": (lambda w: tc.Schedule("rate(1 hour)", 1), "a schedule has 1"),
}
# What looks wrong and is not.
VALID = {
    "st region us": lambda w: stage_of(region="us-gov-west-1"),
    "st connections list": lambda w: stage_of(connections=["vpc"]),
    "st pkg shell analytics": lambda w: w.shell(
        pipeline=w.pipeline("x", stage=stage_of(public_packages=False))
    ),
    "st connections one str tuple": lambda w: stage_of(connections=("a b",)),
    "cj ok": lambda w: context(),
    "cj vpc no conn": lambda w: context(vpcOnly=True),
    "cj sched null": lambda w: context(schedule=None),
    "cj zone null": lambda w: context(timeZone=None),
    "sch rate zone": lambda w: tc.Schedule("rate(1 day)", "Europe/Zurich"),
}
