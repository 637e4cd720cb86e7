"""What tests of monitoring share."""

from tests.fixtures.synthesis import DATABASE

STAGE = {
    "account": None,
    "region": None,
    "schedule": "cron(0 6 * * ? *)",
    "workerType": "G.2X",
    "numberOfWorkers": 4,
    "timeoutMinutes": 90,
    "terminationProtection": False,
    "metrics": True,
    "alertEmail": "oncall@example.com",
    "freshnessHours": 26,
    "dpuHoursPerDay": 40,
    "monthlyBudgetUsd": 100,
    "permissionsBoundary": "bounds",
    "tags": {"owner": "data"},
    "githubRepository": "acme/pipelines",
    "flightsSource": DATABASE,
}


def alarms(assembly):
    return [alarm["Properties"] for alarm in assembly.resources("AWS::CloudWatch::Alarm").values()]
