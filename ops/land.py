"""Lands sample data where the pipeline's sources are: in the local lake or in a deployed stage."""

import os
from collections.abc import Mapping
from pathlib import Path

from local_glue.definitions import Deployment
from local_glue.errors import GlueLocalError, UsageError
from local_glue.home import Home
from sample_data.landing import Delivery

BUCKET_OUTPUT = "LandingBucketName"
FLIGHTS_JOB = "ingest-flights"
DERBY = "jdbc:derby:"


def landing_bucket(outputs: Mapping[str, str], where: str) -> str:
    """Return the name of the landing bucket among a stage's stack outputs.

    Raises:
        UsageError: the stacks have no such output.
    """
    if BUCKET_OUTPUT not in outputs:
        raise UsageError(
            f"{where} has no output {BUCKET_OUTPUT} (it has {', '.join(outputs) or 'none'}); "
            "land works with the sample pipeline's storage stack"
        )
    return outputs[BUCKET_OUTPUT]


def land_locally(objects: Mapping[str, bytes], deployment: Deployment, home: Home) -> None:
    """Put objects into the landing bucket's folder, each appearing whole or not at all."""
    bucket = home.lake / landing_bucket(deployment.outputs, "the synthesized app")
    for key, body in objects.items():
        write_object(bucket / key, body)


def land_delivery_locally(delivery: Delivery, deployment: Deployment, home: Home) -> str:
    """Land a delivery where the local pipeline's sources are; return that place, for people.

    Flights go into the landing bucket, or into the Derby database if the template's job
    ingest-flights reads one.

    Raises:
        UsageError: the job reads another JDBC database, which only its owner can fill.
    """
    job = deployment.jobs.get(FLIGHTS_JOB)
    arguments = job.default_arguments if job else {}
    url = arguments.get("--jdbc_url")
    if url is None:
        land_locally({**delivery.flight_files(), **delivery.weather_files()}, deployment, home)
        return str(home.lake)
    if not url.startswith(DERBY):
        raise UsageError(
            f"{FLIGHTS_JOB} reads {url}; `tidemark land` fills only {DERBY}... databases, so load "
            "the flights there yourself and land the weather with --only weather"
        )
    land_locally(delivery.weather_files(), deployment, home)
    if delivery.has_flights:
        from ops.derby import land_in_derby

        land_in_derby(delivery.flights(), url, arguments["--jdbc_table"], home)
    return f"{home.lake} and {url} in {home.derby}"


def write_object(path: Path, body: bytes) -> None:
    """Write one object of a bucket folder; readers see the old or the new content, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_bytes(body)
    os.utime(unfinished)
    unfinished.replace(path)


def land_in_stage(objects: Mapping[str, bytes], stage: str) -> str:
    """Upload objects into the landing bucket of a deployed stage; return the bucket's name.

    Raises:
        UsageError: the stage is not deployed in the account and region of your credentials.
        GlueLocalError: AWS refuses the upload.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    stack_name = f"tidemark-{stage}-storage"
    try:
        stacks = boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"]
    except (BotoCoreError, ClientError) as error:
        raise UsageError(
            f"cannot read the stack {stack_name}: {error}; deploy the stage first, and use "
            "credentials and a region of its account"
        ) from error
    outputs = {o["OutputKey"]: o["OutputValue"] for o in stacks[0].get("Outputs", [])}
    bucket = landing_bucket(outputs, f"the stack {stack_name}")
    s3 = boto3.client("s3")
    try:
        for key, body in objects.items():
            s3.put_object(Bucket=bucket, Key=key, Body=body)
    except (BotoCoreError, ClientError) as error:
        raise GlueLocalError(f"cannot upload to the bucket {bucket}: {error}") from error
    return bucket
