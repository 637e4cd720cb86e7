"""The job run of a session: how it starts, and the state of the session by its run.

A session that a dead port has left is FAILED: its process has ended with the port.
"""

from collections.abc import Mapping
from pathlib import Path

from tidemark.glue_job.session.statement_files import (
    ENDED_STATES,
    ERROR,
    Record,
    StatementFiles,
    statement_files,
)
from tidemark.glue_service.entities import Entity, EntityKind, get_entity
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.pages import Request
from tidemark.glue_service.protocol.service_errors import NotFoundError, ServiceError
from tidemark.glue_service.runs.active import RunStart
from tidemark.glue_service.runs.run_requests import RunRequest
from tidemark.glue_service.submission import DATA_CATALOG, put_script
from tidemark.local_state.store.database import FINAL_STATES, JobRun
from tidemark.model.assembly.definitions import BOOKMARK_OPTION, DISABLE
from tidemark.model.assembly.template import runnable_job

RUN = "RunId"  # kept beside the members of the request
SESSION_ID = "--SESSION_ID"
TIMEOUT_MINUTES = 2_880  # 48 hours, if the request does not say
LIVY, SPARK_CONNECT = "LIVY", "SPARK_CONNECT"
FOLDER = "sessions"
DBT, CONF = "dbt-glue", "--conf"
INTO_FULL_FOLDER = "spark.sql.legacy.allowNonEmptyLocationInCTAS"
# Code finds the names that it finds on AWS.
OF_STATEMENTS = """\
import tidemark.glue_job.session.serve as _session
from awsglue.context import GlueContext
from pyspark.context import SparkContext

sc = SparkContext.getOrCreate()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
_session.serve(globals())
"""
OF_CONNECT = """\
import tidemark.glue_job.session.connect as _session
from awsglue.context import GlueContext
from pyspark import SparkConf
from pyspark.context import SparkContext

sc = SparkContext.getOrCreate(SparkConf().setAll(_session.settings()))
glueContext = GlueContext(sc)
_session.serve(sc)
"""
SCRIPTS_OF_TYPES = {LIVY: OF_STATEMENTS, SPARK_CONNECT: OF_CONNECT}
PROVISIONING, READY, STOPPING = "PROVISIONING", "READY", "STOPPING"
STOPPED, FAILED, TIMEOUT = "STOPPED", "FAILED", "TIMEOUT"
ENDED = {"STOPPED": STOPPED, "SUCCEEDED": STOPPED, "TIMEOUT": TIMEOUT}


def start_of_session(glue: GlueState, request: Request, run_id: str) -> RunStart:
    """Return the start of the run of a session; its script is put in place."""
    kind = request.get("SessionType", LIVY)
    key = f"{FOLDER}/{kind.lower()}.py"
    uri = put_script(glue.machine.home, key, SCRIPTS_OF_TYPES[kind])
    properties = {
        **{name: request[name] for name in ("GlueVersion", "Connections") if name in request},
        "Command": {**request["Command"], "ScriptLocation": uri},
        "DefaultArguments": {DATA_CATALOG: "true"},
        "NonOverridableArguments": {BOOKMARK_OPTION: DISABLE},
        "Timeout": request.get("Timeout", TIMEOUT_MINUTES),
    }
    job = runnable_job(f"session-{request['Id']}", properties)
    given = {SESSION_ID: request["Id"], **request.get("DefaultArguments", {})}
    arguments = as_dbt_needs(given) if request.get("RequestOrigin", "").startswith(DBT) else given
    stored = RunRequest(run_id, arguments, glue_version=job.glue_version, is_submitted=True)
    idle_minutes = request.get("IdleTimeout", job.timeout_minutes)
    return RunStart(job, stored, idle_minutes=idle_minutes)


def as_dbt_needs(arguments: Mapping[str, str]) -> dict[str, str]:
    """Return arguments with which a table may be created in a folder that has files.

    dbt-glue drops a table, whose files stay, and creates it again in the same folder. Whoever else
    does so gets Spark's error: the files would be replaced.
    """
    conf = arguments.get(CONF, "")
    if INTO_FULL_FOLDER in conf:
        return dict(arguments)
    setting = f"{INTO_FULL_FOLDER}=true"
    return {**arguments, CONF: f"{conf} --conf {setting}" if conf else setting}


def find_session(glue: GlueState, name: str) -> tuple[Entity, JobRun]:
    """Return a session and its run.

    Raises:
        NotFoundError: there is no session of this name.
    """
    entity = get_entity(glue.store, EntityKind.SESSION, name)
    run = glue.store.job_run(entity.definition[RUN])
    if run is None:
        raise NotFoundError(f"Entity Not Found: the run of session {name} was forgotten")
    return entity, run


def files_of(run: JobRun) -> StatementFiles:
    """Return the statements of the session of a run."""
    return statement_files(Path(run.log_path).parent)


def status_of(run: JobRun) -> str:
    """Return the state of a session by that of its run."""
    if run.state in FINAL_STATES:
        return ENDED.get(run.state, FAILED)
    files = files_of(run)
    if run.state == "RUNNING" and files.requests.exists():
        return READY
    return STOPPING if run.state == STOPPING or files.is_closed else PROVISIONING


def check_status(name: str, run: JobRun, *allowed: str) -> None:
    """Raise Glue's IllegalSessionStateException unless a session is in one of some states."""
    if (status := status_of(run)) not in allowed:
        why = f": {run.error_message}" if run.error_message and status == FAILED else ""
        raise ServiceError(
            "IllegalSessionStateException",
            f"Session {name} is in {status} state{why}; allowed here: {', '.join(allowed)}",
        )


def record_of(run: JobRun, number: int) -> Record:
    """Return the record of a statement; one that its session's end has cut off is an ERROR."""
    record = files_of(run).record(number)
    if run.state not in FINAL_STATES or record["State"] in ENDED_STATES:
        return record
    why = f": {run.error_message}" if run.error_message else ""
    text = f"the session has ended ({run.state}){why}"
    named = {"ErrorName": "SessionEnded", "ErrorValue": text, "Traceback": []}
    output = {"Status": "error", "ExecutionCount": number, "Data": {"TextPlain": ""}, **named}
    ended = {"Progress": 1.0, "CompletedOn": run.completed_at_ms}
    return {**record, **ended, "State": ERROR, "Output": output}


def is_at_work(run: JobRun) -> bool:
    """Return whether a statement of a session runs or waits."""
    files = files_of(run)
    numbers = files.numbers()
    return bool(numbers) and files.record(numbers[-1])["State"] not in ENDED_STATES
