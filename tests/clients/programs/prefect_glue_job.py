"""A Glue job by Prefect's block, in a flow without a server of its own. Prints JSON."""

import asyncio
import json
import sys

import boto3
from prefect_aws import AwsCredentials
from prefect_aws.glue_job import GlueJobBlock


def define(name: str, text: str) -> None:
    """Upload a script and define its job."""
    boto3.client("s3").put_object(Bucket="prefect", Key=f"{name}.py", Body=text.encode())
    command = {
        "Name": "pythonshell",
        "PythonVersion": "3.9",
        "ScriptLocation": f"s3://prefect/{name}.py",
    }
    boto3.client("glue").create_job(Name=name, Role="anyone", Command=command)


async def run(name: str) -> dict[str, str]:
    """Start a job, wait for it, and return how it ended."""
    credentials = AwsCredentials(region_name="us-east-1")
    block = GlueJobBlock(
        job_name=name,
        arguments={"--day": "2026-01-01"},
        job_watch_poll_interval=0.2,
        aws_credentials=credentials,
    )
    started = await block.trigger()
    started.client = boto3.client("glue")  # the block hands its client to no run
    try:
        started.wait_for_completion()
    except RuntimeError as error:
        return {"state": await started.fetch_result(), "error": str(error), "id": started.job_id}
    return {"state": await started.fetch_result(), "id": started.job_id}


def main() -> None:
    """Run a job that works and one that fails."""
    boto3.client("s3").create_bucket(Bucket="prefect")
    define("of-prefect", "import sys; print(sys.argv[sys.argv.index('--day') + 1])")
    define("bad-of-prefect", "raise ValueError('no such day')")
    found = {name: asyncio.run(run(name)) for name in ("of-prefect", "bad-of-prefect")}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
