"""`--aws`: what real Glue is asked for, on the local port; without an account, one line."""

from __future__ import annotations

import pytest

from tests.tidemark.glue_service.conftest import port as port  # a fixture
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.testing.aws import Account, AwsGlueJob, AwsLake

pytest_plugins = ("pytester",)
pytestmark = pytest.mark.spark

SCRIPT = """
import sys
from awsglue.utils import getResolvedOptions
args = getResolvedOptions(sys.argv, ["source_path"])
print("reads", args["source_path"])
if "--fail" in sys.argv:
    raise ValueError("boom")
"""


@pytest.fixture
def account(port):
    port.home.create_bucket("team-bucket")
    clients = {name: port.client(name) for name in ("glue", "s3", "logs")}
    account = Account(clients, "team-bucket", "arn:aws:iam::123456789012:role/glue", poll_s=0.05)
    yield account
    account.close()
    assert account.stored() == []
    assert account.prefix not in str(port.glue.get_jobs()["Jobs"])


@pytest.mark.nightly
def test_a_job_of_an_account_runs_on_the_objects_of_its_test(account, glue_test, tmp_path):
    lake = AwsLake(account, glue_test.home, glue_test.now_ms, glue_test.spark)
    glue_job = AwsGlueJob(account, lambda script: script, own_glue_version())
    script = tmp_path / "read_orders.py"
    script.write_text(SCRIPT, encoding="utf-8")

    lake.put("landing/orders/1.json", [{"id": 1}])
    account.put("raw/orders/2.json", b'{"id": 2}\n')
    run = glue_job(script, bookmark="enable", source_path="s3://landing/orders/")
    failed = glue_job(script, source_path="s3://landing/", fail=True)

    assert run.check().stdout == f"reads {account.root}landing/orders/\n"
    assert lake.rows("landing/") + lake.rows("raw/") == [{"id": 1}, {"id": 2}]
    assert (failed.state, failed.is_success) == ("FAILED", False)
    assert "ValueError: boom" in failed.error
    with pytest.raises(AttributeError, match="AWS does not report it"):
        _ = run.rows_read
    lake.delete("landing/")
    assert lake.names() == ["raw/orders/2.json"]


def test_without_an_account_the_test_fails_with_one_line(pytester, monkeypatch):
    for name in ("TIDEMARK_AWS_BUCKET", "TIDEMARK_AWS_ROLE"):
        monkeypatch.delenv(name, raising=False)
    pytester.makepyfile(test_it="def test_it(lake):\n    lake.put('a-bucket/b.json', [])\n")

    done = pytester.runpytest_subprocess("--aws", "-q")

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["error: --aws needs TIDEMARK_AWS_BUCKET and TIDEMARK_AWS_ROLE in the environment*"]
    )
    assert "Traceback" not in done.stdout.str()
