"""`tidemark gaps` and `backfill` with --deployed: another home's port in the place of AWS."""

from __future__ import annotations

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError

from tests.tidemark.cli.test_backfill import RANGE

pytestmark = pytest.mark.stress  # starts many processes

DAYS = ("--from", "2013-01-01", "--to", "2013-01-04")


def test_who_may_not_see_the_other_jobs_fills_and_is_warned(stage, monkeypatch):
    stage.deploy({"load": "", "report": ""})
    command = stage.port.glue.get_job(JobName="load")["Job"]["Command"]
    update = {"Role": "anyone", "Command": command, "DefaultArguments": RANGE}
    stage.port.glue.update_job(JobName="load", JobUpdate=update)
    call = BaseClient._make_api_call

    def refuse(client, operation, parameters):  # as IAM does, which the port is not
        if (operation, parameters.get("JobName")) == ("GetJob", "report"):
            error = {"Code": "AccessDeniedException", "Message": "not authorized"}
            raise ClientError({"Error": error}, operation)
        return call(client, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", refuse)
    filled = stage.ask("backfill", "load", *DAYS, "--yes")

    assert filled.exit_code == 0, filled.output
    assert stage.port.states("load") == ["SUCCEEDED"]
    (warning,) = [
        line for line in filled.stderr.splitlines() if "the jobs downstream of load" in line
    ]
    assert "AccessDeniedException" in warning
