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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tidemark.local_state.home import Home

SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">{}</configuration>"""
EVENT = (
    '<event name="jdk.{}"><setting name="enabled">true</setting>'
    '<setting name="threshold">0 ns</setting><setting name="stackTrace">false</setting></event>'
)
QUICK = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")  # of a program that runs for seconds
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

    def __init__(self, folder: Path, java_home: Path) -> None:
        self.folder = folder
        self._programs = java_home / "bin"
        events = "".join(EVENT.format(name.removeprefix("jdk.")) for name in FILE_ACTIONS)
        (folder / "files.jfc").write_text(SETTINGS.format(events), encoding="utf-8")
        self.java_options = (
            f"-XX:StartFlightRecording:settings={folder / 'files.jfc'},filename={folder},"
            f"dumponexit=true -Xlog:startuptime:file={folder}/%p.jvm"  # its name is what counts
        )

    def calls(self, home: Home, job_of_run: Mapping[str, str]) -> set[Call]:
        """Return what each job got from and put into the buckets of the lake."""
        self._ask_those_that_run()
        calls: set[Call] = set()
        for recording in self.folder.glob("*.jfr"):
            for run, event, path in of_runs(_events(recording, self._programs / "jfr")):
                if path.startswith(f"{home.lake}/"):
                    bucket, _, key = path.removeprefix(f"{home.lake}/").partition("/")
                    arn = f"arn:aws:s3:::{bucket}/{key}"
                    calls.add(Call(job_of_run[run], FILE_ACTIONS[event], arn))
        return calls

    def _ask_those_that_run(self) -> None:
        for known in self.folder.glob("*.jvm"):
            recording = self.folder / f"{known.stem}.jfr"
            command = [str(self._programs / "jcmd"), known.stem]
            asked = [*command, "JFR.dump", f"filename={recording}"]
            subprocess.run(asked, capture_output=True, env={"PATH": os.environ["PATH"]})


def of_runs(events: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the run, type and path of the events of one JVM, which serves one run after the other.

    Spark writes its log of events into the folder of a run from before it reads the first file of
    the lake until after it has written the last.

    Args:
        events: time, type and path of each.
    """
    run = ""
    for _, type_, path in sorted(events):
        if match := re.search(r"/runs/(jr_\w+)/", path):
            run = match[1]
        if run:  # before the first there is the start of the JVM
            yield run, type_, path


def _events(recording: Path, jfr: Path) -> list[tuple[str, str, str]]:
    command = [str(jfr), *QUICK, "print", "--json", "--events", ",".join(FILE_ACTIONS)]
    text = subprocess.run(
        [*command, str(recording)],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    ).stdout
    events = json.loads(text)["recording"]["events"]
    values = [(event["type"], event["values"]) for event in events]
    return [(_sortable(found["startTime"]), type_, str(found["path"])) for type_, found in values]


def _sortable(moment: str) -> str:
    """Return a moment as text that sorts as time does: Java leaves out zeros at the end."""
    second, _, fraction = moment.rstrip("Z").partition(".")
    return f"{second}.{fraction:0<9}"


@contextmanager
def recording_proxy(engine: str) -> Iterator[tuple[str, list[tuple[str, str, dict[str, Any]]]]]:
    """Yield the URL of a proxy for the engine, and the requests of jobs: service, name, body."""
    requests: list[tuple[str, str, dict[str, Any]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            service, _, operation = self.headers.get("X-Amz-Target", "?.?").partition(".")
            agent = self.headers.get("User-Agent", f"app/{OWN_APP}")  # the command tries it without
            if f"app/{OWN_APP}" not in agent:
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
