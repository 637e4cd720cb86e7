"""The same pipeline with flights from a JDBC table: embedded Derby, switched on by stage config."""

import json

import pytest
from rich.console import Console

from sample.land import land_delivery_locally, write_object
from sample.landing import plan_delivery
from sample.recompute import compare
from tidemark.cli.progress import JobProgress
from tidemark.glue_service.commands import deploy, load_app
from tidemark.glue_service.one_run import run_workflow
from tidemark.local_state.home import Home

pytestmark = [pytest.mark.spark, pytest.mark.synth, pytest.mark.nightly]
DERBY = {
    "kind": "jdbc",
    "url": "jdbc:derby:flights",
    "table": "FLIGHTS",
    "driver": "org.apache.derby.jdbc.EmbeddedDriver",
}


def test_increments_from_a_jdbc_table_end_with_the_mart_equal_to_a_recomputation(
    synth, tmp_path, jvms
) -> None:
    assembly = synth(flightsSource=json.dumps(DERBY))
    home = Home.open(tmp_path / "home")
    app = load_app(assembly)
    deployment = deploy(app, home)
    landed = tmp_path / "landed"
    read = []
    for days, corrected in (("1", None), ("2", "1")):
        delivery = plan_delivery(days, None, corrected)
        land_delivery_locally(delivery, deployment, home)
        for key, body in {**delivery.flight_files(), **delivery.weather_files()}.items():
            write_object(landed / key, body)
        with JobProgress(Console()) as progress:
            result = run_workflow(app, home, "flights", progress, jvms)
        assert result.is_success, result
        read += [r.rows_read for r in result.job_runs if r.job_name == "ingest-flights"]

    assert read == [842, 943 + 17]  # not the row of the query for the upper bound
    mart = home.lake / deployment.outputs["MartBucketName"] / "route_delays"
    comparison = compare(landed, mart)
    assert comparison.is_equal, comparison
