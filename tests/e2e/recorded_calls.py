"""Records what jobs ask of AWS while they run here: files of the lake, and requests by boto3.

Files by the JVM's own flight recorder: what it opens below the lake is what the same job gets from
or puts into S3 on AWS. Requests by a proxy in front of the embedded DynamoDB, which is the
endpoint of every other service as well.
"""

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from local_glue.home import Home

SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">{}</configuration>"""
EVENT = (
    '<event name="jdk.{}"><setting name="enabled">true</setting>'
    '<setting name="threshold">0 ns</setting><setting name="stackTrace">false</setting></event>'
)
FILE_ACTIONS = {"jdk.FileRead": "s3:GetObject", "jdk.FileWrite": "s3:PutObject"}
OWN_APP = "operator"  # what the command calls itself in its requests; its jobs do not
TRANSACTED = {"ConditionCheck": "ConditionCheckItem", "Put": "PutItem", "Update": "UpdateItem"}


@dataclass(frozen=True)
class Call:
    """One action that a job needs, on what, and the keys of the request that policies look at."""

    job: str
    action: str
    resource: str
    context: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)


class FileRecorder:
    """Lets the JVMs that start meanwhile record every file they read or write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        events = "".join(EVENT.format(name.removeprefix("jdk.")) for name in FILE_ACTIONS)
        (folder / "files.jfc").write_text(SETTINGS.format(events), encoding="utf-8")
        self.java_options = (
            f"-XX:StartFlightRecording:settings={folder / 'files.jfc'},filename={folder},"
            "dumponexit=true"
        )

    def calls(self, home: Home, job_of_run: Mapping[str, str], jfr: Path) -> set[Call]:
        """Return what each job got from and put into the buckets of the lake."""
        calls: set[Call] = set()
        for recording in self.folder.glob("*.jfr"):
            paths = _paths(recording, jfr)
            runs = {match[1] for _, path in paths if (match := re.search(r"/runs/(jr_\w+)/", path))}
            if not runs:
                continue  # the launcher of Spark
            (run,) = runs
            for event, path in paths:
                if path.startswith(f"{home.lake}/"):
                    bucket, _, key = path.removeprefix(f"{home.lake}/").partition("/")
                    arn = f"arn:aws:s3:::{bucket}/{key}"
                    calls.add(Call(job_of_run[run], FILE_ACTIONS[event], arn))
        return calls


def _paths(recording: Path, jfr: Path) -> set[tuple[str, str]]:
    command = [str(jfr), "print", "--json", "--events", ",".join(FILE_ACTIONS), str(recording)]
    text = subprocess.run(
        command, capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]}
    ).stdout
    events = json.loads(text)["recording"]["events"]
    return {(event["type"], str(event["values"]["path"])) for event in events}


@contextmanager
def recording_proxy(engine: str) -> Iterator[tuple[str, list[tuple[str, str, dict[str, Any]]]]]:
    """Yield the URL of a proxy for the engine, and the requests of jobs: service, name, body."""
    requests: list[tuple[str, str, dict[str, Any]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            service, _, operation = self.headers.get("X-Amz-Target", "?.?").partition(".")
            if f"app/{OWN_APP}" not in self.headers["User-Agent"]:
                requests.append((service.partition("_")[0], operation, json.loads(body)))
            kept = {name: value for name, value in self.headers.items() if name != "Host"}
            try:
                answer = urlopen(Request(engine, body, kept), timeout=60)  # noqa: S310
            except HTTPError as refusal:
                answer = refusal
            with answer:
                content = answer.read()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", requests
        finally:
            server.shutdown()


def table_calls(
    job: str, requests: list[tuple[str, str, dict[str, Any]]], table_arn: str
) -> list[Call]:
    """Return the DynamoDB actions of requests; a transaction needs those of its parts."""
    calls = []
    for service, operation, body in requests:
        assert service == "DynamoDB", f"the job asked {service} for {operation}"
        parts = [(operation, body)]
        if operation == "TransactWriteItems":
            parts = [
                (TRANSACTED[kind], part)
                for item in body["TransactItems"]
                for kind, part in item.items()
            ]
        for name, part in parts:
            keys = (_job_of(name, part),) if name != "DescribeTable" else ()
            context = {"dynamodb:LeadingKeys": keys} if keys else {}
            calls.append(Call(job, f"dynamodb:{name}", table_arn, context))
    return calls


def _job_of(name: str, request: Mapping[str, Any]) -> str:
    if name == "Query":
        assert request["KeyConditionExpression"].startswith("jobName = :job")
        return str(request["ExpressionAttributeValues"][":job"]["S"])
    return str((request.get("Key") or request["Item"])["jobName"]["S"])
