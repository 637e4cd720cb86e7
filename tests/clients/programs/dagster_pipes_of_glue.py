"""A Glue job as a Dagster asset: context by S3, messages by S3 and by its log. Prints JSON."""

import io
import json
import sys
import zipfile

import boto3
import dagster as dg
import dagster_pipes
from dagster_aws.pipes import (
    PipesCloudWatchMessageReader,
    PipesGlueClient,
    PipesS3ContextInjector,
    PipesS3MessageReader,
)

BUCKET = "dagster"
SCRIPT = """
import sys
import boto3
from dagster_pipes import (
    PipesCliArgsParamsLoader, PipesDefaultMessageWriter, PipesS3ContextLoader,
    PipesS3MessageWriter, open_dagster_pipes,
)
writer = PipesS3MessageWriter(client=boto3.client("s3"))
if "--by-log" in sys.argv:
    writer = PipesDefaultMessageWriter()
with open_dagster_pipes(
    context_loader=PipesS3ContextLoader(client=boto3.client("s3")),
    message_writer=writer,
    params_loader=PipesCliArgsParamsLoader(),
) as pipes:
    pipes.log.info(f"partition {pipes.get_extra('partition')}")
    print("a line of the script")
    if pipes.get_extra("partition") == "bad":
        raise ValueError("no such partition")
    pipes.report_asset_materialization(metadata={"rows": 3}, data_version="v1")
"""


def define_job() -> None:
    """Upload the script and what it imports, and define the job."""
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.write(dagster_pipes.__file__, "dagster_pipes/__init__.py")
    s3.put_object(Bucket=BUCKET, Key="libs.zip", Body=archive.getvalue())
    s3.put_object(Bucket=BUCKET, Key="job.py", Body=SCRIPT.encode())
    command = {
        "Name": "pythonshell",
        "PythonVersion": "3.9",
        "ScriptLocation": f"s3://{BUCKET}/job.py",
    }
    libraries = {"--extra-py-files": f"s3://{BUCKET}/libs.zip"}
    boto3.client("glue").create_job(
        Name="of-dagster", Role="anyone", Command=command, DefaultArguments=libraries
    )


def materialized(
    reader: object, partition: str, *, by_log: bool = False
) -> dg.ExecuteInProcessResult:
    """Run the job as an asset."""
    client = PipesGlueClient(
        context_injector=PipesS3ContextInjector(bucket=BUCKET, client=boto3.client("s3")),
        message_reader=reader,
    )
    arguments = {"--by-log": "yes"} if by_log else {}

    @dg.asset
    def orders(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
        return client.run(
            context=context,
            start_job_run_params={"JobName": "of-dagster", "Arguments": arguments},
            extras={"partition": partition},
        ).get_materialize_result()

    return dg.materialize([orders], raise_on_error=False)


def facts_of(result: dg.ExecuteInProcessResult) -> dict[str, object]:
    """Return what Dagster knows of the asset."""
    (event,) = result.asset_materializations_for_node("orders")
    metadata = {name: value.value for name, value in event.metadata.items()}
    return {"rows": metadata["rows"], "run": metadata["AWS Glue Job Run ID"]}


def main() -> None:
    """Run the job three times."""
    define_job()
    s3, logs = boto3.client("s3"), boto3.client("logs")
    by_s3 = materialized(PipesS3MessageReader(bucket=BUCKET, client=s3, interval=0.5), "one")
    found: dict[str, object] = {"by S3": facts_of(by_s3)}
    reader = PipesCloudWatchMessageReader(client=logs)
    found["by log"] = facts_of(materialized(reader, "two", by_log=True))
    bad = materialized(PipesS3MessageReader(bucket=BUCKET, client=s3, interval=0.5), "bad")
    (failure,) = bad.get_step_failure_events()
    found["failed"] = str(failure.step_failure_data.error.cause or failure.step_failure_data.error)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
