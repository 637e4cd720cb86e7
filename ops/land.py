"""Lands sample data where the pipeline's sources are: in the local lake or in a deployed stage."""

import os
from collections.abc import Mapping
from pathlib import Path

from local_glue.definitions import Deployment
from local_glue.errors import GlueLocalError, UsageError
from local_glue.home import Home

BUCKET_OUTPUT = "LandingBucketName"


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
