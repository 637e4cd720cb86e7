"""Announces what a script changes by calls of Python: its bookmark, and requests to services."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

from tidemark.glue_job.cluster.asked import DAEMON, WORKERS
from tidemark.glue_job.edge.announce import (
    announced,
    note_listed,
    note_read,
    note_request,
    open_edge,
)
from tidemark.glue_job.edge.failures import HALVES, done_of, failing, unanswered
from tidemark.glue_job.edge.jvm import SETTING, JvmEdge
from tidemark.glue_job.edge.messages import keep_messages, messages_place
from tidemark.glue_job.edge.outside import watch_outside
from tidemark.glue_job.edge.watched_databases import watch_databases
from tidemark.glue_job.process.after_import import after_import
from tidemark.glue_job.process.spark import CONF_FILE
from tidemark.local_state import operations
from tidemark.local_state.home import Home
from tidemark.local_state.outside import withholds_others
from tidemark.model.assembly.definitions import ENABLE

SCRIPT_NAME = "script-name"  # file of a run: the name in tracebacks, for its Python workers
# S3 knows the effect of these requests only at the last one.
PARTS = ("CreateMultipartUpload", "UploadPart", "UploadPartCopy", "AbortMultipartUpload")
READS = ("Get", "List", "Head", "Describe", "BatchGet", "TransactGet", "Query", "Scan", "Select")
READS_OF = {"sts", "logs", "cloudwatch", "monitoring", "iam", "kms"}  # nothing of a job's state
SENT = f"s3://{operations.MESSAGES}/"
# The parameter that says what a request changes.
SUBJECTS = ("TableName", "Table", "JobName", "DatabaseName", "Name", "TopicArn", "QueueUrl")


@contextmanager
def announcing(home: Home, folder: Path, script: str) -> Iterator[None]:
    """Announce what the body changes, if the home records it; Spark gets the socket of the JVM."""
    conf = folder / CONF_FILE
    with ExitStack() as stack:
        if withholds_others(home):
            stack.callback(watch_outside(home, script).remove_temporary)
            if conf.is_file():
                watch_databases(home, conf)
        edge = open_edge(home, script)
        if edge is None:
            yield
            return
        (folder / SCRIPT_NAME).write_text(script, encoding="utf-8")
        after_import("awsglue.job", _announce_commits)
        after_import("botocore.client", _announce_requests)
        if conf.is_file():  # a Python shell job has none
            jvm = JvmEdge(edge, home, folder)
            stack.callback(jvm.close)
            with conf.open("a", encoding="utf-8") as file:
                file.write(f"spark.hadoop.{SETTING}={jvm.path}\n")
                file.write(f"{DAEMON}={WORKERS}\n")  # also with --master
        yield


def announce_in_worker(home: str, run_folder: str) -> None:
    """Announce what a Python worker of Spark changes by requests, in functions of the script."""
    run, script = Path(run_folder), Path(run_folder, SCRIPT_NAME)
    open_edge(Home(Path(home)), script.read_text("utf-8") if script.is_file() else "", run.name)
    if withholds_others(Home(Path(home))):
        watch_outside(Home(Path(home)), "")
    after_import("botocore.client", _announce_requests)


def _announce_commits(module: ModuleType) -> None:
    commit = module.Job.commit

    def announce(job: Any) -> None:
        session = job._session
        is_stored = session is not None and session.option == ENABLE
        with announced(*([(operations.BOOKMARK, "")] if is_stored else [])) as how:
            if how == operations.REFUSED:
                raise operations.InjectedError(
                    "503 Slow Down: an experiment lets this request fail once"
                )
            commit(job)
        if how:
            raise operations.InjectedError("an experiment loses the answer to this request")

    module.Job.commit = announce


def _announce_requests(module: ModuleType) -> None:
    call = module.BaseClient._make_api_call

    def announce(client: Any, operation_name: str, api_params: Mapping[str, Any]) -> Any:
        service = client.meta.service_model.service_name
        changes = _changes(service, operation_name, api_params)
        read = _read(service, operation_name, api_params)
        for place in read:
            note_read(place)
        if is_read(service, operation_name):
            what = ", ".join(read) or _subject(api_params)
            how = note_request(f"{service} {operation_name} {what}".rstrip())
            answer = failing(call, client, operation_name, api_params, how)
        else:
            with announced(*changes, in_part=operation_name in HALVES) as how:
                answer = failing(call, client, operation_name, api_params, how)
                if changes and changes[0][1].startswith(SENT):
                    done = done_of(operation_name, api_params, how)
                    keep_messages(changes[0][1], operation_name, done)
            if how == operations.UNANSWERED:
                raise unanswered(client)
        if prefix := _listed(service, operation_name, api_params):
            note_listed(prefix, is_deep=not api_params.get("Delimiter"), by_script=True)
        return answer

    module.BaseClient._make_api_call = announce


def _read(service: str, name: str, parameters: Mapping[str, Any]) -> list[str]:
    """Return the object or the tables that a request reads, by their URIs."""
    # A write under a condition reads what it would replace.
    if service == "dynamodb" and (name.startswith(READS) or "ConditionExpression" in parameters):
        names = _subject(parameters).split(", ")
        return [operations.table_uri(name.rpartition("/")[2]) for name in names]  # or of an ARN
    # A copy reads its source; other reads of S3 name the object themselves.
    source = parameters.get("CopySource") if name == "CopyObject" else None
    is_conditional = source is None and bool(parameters.keys() & {"IfMatch", "IfNoneMatch"})
    if service == "s3" and (name in ("GetObject", "HeadObject") or is_conditional):
        source = parameters
    if isinstance(source, str):
        return [f"s3://{unquote(source.partition('?')[0].lstrip('/'))}"]
    return [f"s3://{source['Bucket']}/{source['Key']}"] if source else []


def _listed(service: str, name: str, parameters: Mapping[str, Any]) -> str:
    """Return with what the URIs begin that a request of boto3 lists; empty if it lists none."""
    if service != "s3" or name not in ("ListObjects", "ListObjectsV2"):
        return ""
    return f"s3://{parameters['Bucket']}/{parameters.get('Prefix') or ''}"


def is_read(service: str, name: str) -> bool:
    """Return whether a request reads what a job may go by."""
    return name.startswith(READS) and service not in READS_OF


def _changes(service: str, name: str, parameters: Mapping[str, Any]) -> list[tuple[str, str]]:
    if is_read(service, name) or service in READS_OF or name in PARTS:
        return []
    if place := messages_place(service, name, parameters):
        return [(operations.PUT, place)]
    if service != "s3":
        return [(operations.REQUEST, f"{service} {name} {_subject(parameters)}".rstrip())]
    bucket = parameters.get("Bucket", "")
    if name in ("PutObject", "CopyObject", "CompleteMultipartUpload"):
        return [(operations.PUT, f"s3://{bucket}/{parameters['Key']}")]
    if name == "DeleteObject":
        return [(operations.DELETE, f"s3://{bucket}/{parameters['Key']}")]
    if name == "DeleteObjects":
        keys = [entry["Key"] for entry in parameters.get("Delete", {}).get("Objects", ())]
        return [(operations.DELETE, f"s3://{bucket}/{key}") for key in keys]
    return [(operations.REQUEST, f"s3 {name} {bucket}")]


def _subject(parameters: Mapping[str, Any]) -> str:
    if items := parameters.get("TransactItems"):
        tables = {str(action.get("TableName")) for item in items for action in item.values()}
        return ", ".join(sorted(tables))
    if items := parameters.get("RequestItems"):
        return ", ".join(sorted(items))
    return next((str(parameters[name]) for name in SUBJECTS if name in parameters), "")
