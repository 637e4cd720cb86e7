"""Tables that jobs name and the app does not define are made on this machine."""

from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.watermark_tables import imported_tables, watermark_table
from tidemark.model.assembly.definitions import Deployment, JobDefinition
from watermarks import Watermarks


def deployment(defined, **tables):
    jobs = {
        name: JobDefinition(name, "s3://assets/job.py", "5.1", {"--watermark_table": table})
        for name, table in tables.items()
    }
    jobs["plain"] = JobDefinition("plain", "s3://assets/job.py", "5.1")
    tables_of_app = tuple(watermark_table(name) for name in defined)
    return Deployment(jobs, (), (), tables_of_app, (), {}, "eu-west-1")


def test_each_table_that_is_not_defined_is_made_once():
    found = imported_tables(deployment(["ours"], a="ours", b="theirs", c="theirs", d="other"))

    assert [table.name for table in found] == ["other", "theirs"]


def test_the_library_works_on_a_table_that_was_made_so(tmp_path):
    home = Home.open(tmp_path / "home")
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, "eu-west-1") as client:
        create_tables(client, imported_tables(deployment([], one="theirs")))
        watermarks = Watermarks("theirs", client)
        watermarks.advance(job_id="one", run_id="jr_1", to={"id": 7}, base=None)

        assert watermarks.latest("one").watermarks == {"id": 7}
