"""The logs of runs as objects of S3, each with a presigned address."""

from pathlib import Path

import boto3

from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.pages import Answer, Request
from tidemark.glue_service.runs.job_runs import find_run
from tidemark.glue_service.sessions.session_runs import find_session
from tidemark.glue_service.submission import SCRIPTS
from tidemark.local_state.access_key import access_key
from tidemark.local_state.store.database import JobRun

FOLDER, EXPIRES_S = "logs", 3_600


def get_system_logs_for_session(glue: GlueState, request: Request) -> Answer:
    """Return the address of a session's log as it is now, which anybody may open for an hour."""
    return _address(glue, find_session(glue, request["Id"])[1])


def get_system_logs_for_job_run(glue: GlueState, request: Request) -> Answer:
    """Return the address of the log of a job's run as it is now."""
    return _address(glue, find_run(glue, request["JobName"], request["RunId"]))


def _address(glue: GlueState, run: JobRun) -> Answer:
    home, log = glue.machine.home, Path(run.log_path)
    name, key = f"{FOLDER}/{run.run_id}.log", access_key(home)
    copy = home.lake / SCRIPTS / name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(log.read_bytes() if log.is_file() else b"")
    client = boto3.client(
        "s3",
        endpoint_url=glue.machine.port,
        region_name=glue.machine.region,
        aws_access_key_id=key.key_id,
        aws_secret_access_key=key.secret,
    )
    where = {"Bucket": SCRIPTS, "Key": name}
    return {"SystemLogsUrl": client.generate_presigned_url("get_object", where, EXPIRES_S)}
