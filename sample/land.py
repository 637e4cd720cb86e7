"""Lands sample data where the pipeline's sources are: in the local lake or in a deployed stage."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from sample.landing import Delivery
from tidemark.app import read_context
from tidemark.errors import TidemarkError, UsageError
from tidemark.local_state.home import Home
from tidemark.model.assembly.definitions import Deployment
from tidemark.model.stage.config import StageConfig

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
    if delivery.has_flights and not url.startswith(DERBY):
        raise _cannot_fill(url)
    land_locally(delivery.weather_files(), deployment, home)
    if not delivery.has_flights:
        return str(home.lake)
    from sample.derby import land_in_derby

    land_in_derby(delivery.flights(), url, arguments["--jdbc_table"], home)
    return f"{home.lake} and {url} in {home.derby}"


def _cannot_fill(url: str) -> UsageError:
    return UsageError(
        f"{FLIGHTS_JOB} reads {url}; `python -m sample land` fills only local {DERBY}... "
        "databases, so load the flights there yourself and land the weather with --only weather"
    )


def write_object(path: Path, body: bytes) -> None:
    """Write one object of a bucket folder; readers see the old or the new content, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_bytes(body)
    os.utime(unfinished)
    unfinished.replace(path)


def land_delivery_in_stage(delivery: Delivery, stage: str) -> str:
    """Upload a delivery into the landing bucket of a deployed stage; return the bucket's name.

    Raises:
        UsageError: the stage is not deployed in the account and region of your credentials, or
            its job reads the flights from a database, which only its owner can fill.
        TidemarkError: AWS refuses the upload.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    stack_name = _storage_stack(stage)
    try:
        stacks = boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"]
        url = _jdbc_url_in_account() if delivery.has_flights else None
    except (BotoCoreError, ClientError) as error:
        raise UsageError(
            f"cannot read the stage {stage} (stack {stack_name}): {error}; deploy it first, and "
            "use credentials and a region of its account"
        ) from error
    if url is not None:
        raise _cannot_fill(url)
    outputs = {o["OutputKey"]: o["OutputValue"] for o in stacks[0].get("Outputs", [])}
    bucket = landing_bucket(outputs, f"the stack {stack_name}")
    s3 = boto3.client("s3")
    try:
        for key, body in {**delivery.flight_files(), **delivery.weather_files()}.items():
            s3.put_object(Bucket=bucket, Key=key, Body=body)
    except (BotoCoreError, ClientError) as error:
        raise TidemarkError(f"cannot upload to the bucket {bucket}: {error}") from error
    return bucket


def _storage_stack(stage: str) -> str:
    """Return the name of the stack with the buckets of a stage, as `app.py` gives it."""
    context = read_context(Path("cdk.json"), json.dumps({"stage": stage}))
    return StageConfig.from_context(context, ("flightsSource",)).name_of("storage")


def _jdbc_url_in_account() -> str | None:
    """Return the database that the deployed job reads flights from; None if it reads files."""
    import boto3

    glue = boto3.client("glue")
    try:
        job = glue.get_job(JobName=FLIGHTS_JOB)["Job"]
    except glue.exceptions.EntityNotFoundException:
        return None  # the storage stack is deployed, the pipeline not yet
    url: str | None = job.get("DefaultArguments", {}).get("--jdbc_url")
    return url
