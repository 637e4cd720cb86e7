"""Kills S3 at each line of each operation, and prints what a next start then finds.

A program of its own: it forks. Arguments: the folder of a home, and each how manyth line is tried.
Prints JSON: per operation how often it was killed, and each state that is neither the one before
nor the one after it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tidemark.glue_service.s3 import service
from tidemark.glue_service.s3.calls import Call
from tidemark.glue_service.s3.xml import S3Error
from tidemark.local_state.home import Home

TRACED = str(Path(service.__file__).parent)
BUCKET = "killed"
NO_HEADERS: Mapping[str, str] = {}
OLD, NEW = b"old", b"newer"
OLD_HEADERS = {"x-amz-meta-of": "old", "content-type": "text/old", "x-amz-tagging": "of=old"}
NEW_HEADERS = {"x-amz-meta-of": "new", "content-type": "text/new", "x-amz-tagging": "of=new"}
COMPLETE = "<C><Part><PartNumber>1</PartNumber><ETag>{etag}</ETag></Part></C>"
TAGS = "<Tagging><TagSet><Tag><Key>of</Key><Value>new</Value></Tag></TagSet></Tagging>"


class Client:
    """A started S3, and short ways to ask it."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.s3 = service.S3(home, "us-east-1", lambda _: None, threading.Event())

    def ask(
        self,
        method: str,
        key: str,
        body: bytes = b"",
        headers: Mapping[str, str] = NO_HEADERS,
        **query: str,
    ) -> Any:
        return self.s3.answer(Call(method, BUCKET, key, query, headers, io.BytesIO(body)))

    def text(self, *arguments: Any, **query: str) -> str:
        return self.ask(*arguments, **query).body.decode()

    def state(self, key: str) -> Any:
        """Return all that readers see of an object; None if all of them see none."""
        listed = self.text("GET", "", prefix=key)
        try:
            got = self.ask("GET", key)
        except S3Error as error:
            is_absent = error.code == "NoSuchKey" and "<Contents>" not in listed
            return None if is_absent else f"{error}, and listed: {listed}"
        head = self.ask("HEAD", key).headers
        body = got.body if isinstance(got.body, bytes) else got.body.read()
        etag = got.headers["ETag"].strip('"')
        tags = re.findall("<Value>(.*?)</Value>", self.text("GET", key, tagging=""))
        seen = [got.headers["Content-Type"], got.headers.get("x-amz-meta-of"), *tags]
        if head != got.headers or etag not in listed or f"<Size>{len(body)}<" not in listed:
            return f"readers differ: {got.headers}, {head}, {listed}"
        return [body.decode(), etag, *seen]


def put_old(client: Client, key: str) -> None:
    client.ask("PUT", key, OLD, OLD_HEADERS)


def put_new(client: Client, key: str) -> None:
    client.ask("PUT", key, NEW, NEW_HEADERS)


def put_source(client: Client, key: str) -> None:
    put_old(client, key)
    client.ask("PUT", f"source-of-{key}", NEW, NEW_HEADERS)


def copy(client: Client, key: str) -> None:
    client.ask("PUT", key, headers={"x-amz-copy-source": f"{BUCKET}/source-of-{key}"})


def tag(client: Client, key: str) -> None:
    client.ask("PUT", key, TAGS.encode(), tagging="")


def delete(client: Client, key: str) -> None:
    client.ask("DELETE", key)


def begin(client: Client, key: str) -> None:
    put_old(client, key)
    answer = client.text("POST", key, b"", NEW_HEADERS, uploads="")
    (upload,) = re.findall("<UploadId>(.*?)</UploadId>", answer)
    client.ask("PUT", key, NEW, uploadId=upload, partNumber="1")


def upload_of(client: Client, key: str) -> str:
    listed = client.text("GET", "", uploads="", prefix=key)
    return re.findall("<UploadId>(.*?)</UploadId>", listed)[0]


def complete(client: Client, key: str) -> None:
    body = COMPLETE.format(etag=md5(NEW))
    client.ask("POST", key, body.encode(), uploadId=upload_of(client, key))


def put_part(client: Client, key: str) -> None:
    client.ask("PUT", key, OLD, uploadId=upload_of(client, key), partNumber="1")


def part_of(client: Client, key: str) -> Any:
    answer = client.text("GET", key, uploadId=upload_of(client, key))
    return re.findall("<ETag>(.*?)</ETag><Size>(.*?)</Size>", answer)


def nothing(client: Client, key: str) -> None:
    """Leave the key as it is."""


def md5(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


IS_OLD = ["old", md5(OLD), "text/old", "old", "old"]
IS_NEW = ["newer", md5(NEW), "text/new", "new", "new"]
WHOLE = f"{hashlib.md5(bytes.fromhex(md5(NEW)), usedforsecurity=False).hexdigest()}-1"
Step = Callable[[Client, str], None]
# By name: what comes before, what is killed, and the states that may be there afterwards.
OPERATIONS: dict[str, tuple[Step, Step, list[Any]]] = {
    "PutObject over another": (put_old, put_new, [IS_OLD, IS_NEW]),
    "PutObject": (nothing, put_new, [None, IS_NEW]),
    "CopyObject": (put_source, copy, [IS_OLD, IS_NEW]),
    "PutObjectTagging": (put_old, tag, [IS_OLD, [*IS_OLD[:-1], "new"]]),
    "DeleteObject": (put_old, delete, [IS_OLD, None]),
    "CompleteMultipartUpload": (begin, complete, [IS_OLD, ["newer", WHOLE, *IS_NEW[2:]]]),
    "UploadPart": (begin, put_part, [IS_OLD]),
}


def run(home: Home, key: str, before: Step, killed: Step, line: int) -> None:
    """Do an operation, and kill this process at a line of it."""
    client = Client(home)
    before(client, key)
    left = line

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(TRACED):
            return None
        left -= event == "line"
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    killed(client, key)
    sys.settrace(None)


def fault_after(home: Home, key: str, allowed: list[Any], is_part: bool) -> str | None:
    """Return what is wrong with an object after a new start."""
    client = Client(home)
    if client.state(key) not in allowed:
        return f"{client.state(key)}"
    if left := [path.name for path in client.s3._lake.uploads.iterdir() if "." in path.name]:
        return f"dead uploads: {left}"
    if is_part and len(parts := part_of(client, key)) != 1:
        return f"parts: {parts}"
    while "<UploadId>" in client.text("GET", "", uploads="", prefix=key):
        client.ask("DELETE", key, uploadId=upload_of(client, key))
    client.ask("DELETE", key)
    client.ask("PUT", key.partition("/")[0], OLD, OLD_HEADERS)  # no folder is left in its way
    found = client.state(key.partition("/")[0])
    return None if found == IS_OLD else f"not written again: {found}"


def in_child(act: Callable[[], object]) -> tuple[int, str]:
    """Do something in a process of its own; return its status and what it returned, as text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, str(act() or "").encode())
            os._exit(0)
        except BaseException as error:  # noqa: BLE001 (told to the parent)
            os.write(write, repr(error).encode())
            os._exit(1)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    return os.waitpid(child, 0)[1], text


def main(folder: str, each: int) -> None:
    home = Home.open(Path(folder))
    home.create_bucket(BUCKET)
    killed, faults = {}, []
    for number, (name, (before, step, allowed)) in enumerate(OPERATIONS.items()):
        line = 0
        while True:
            key = f"{number}-{line}/object"
            status, text = in_child(lambda: run(home, key, before, step, line))  # noqa: B023
            if status not in (0, signal.SIGKILL):
                faults.append(f"{name}: {text}")
                break
            is_part = step is put_part
            _, text = in_child(lambda: fault_after(home, key, allowed, is_part))  # noqa: B023
            if text:
                faults.append(f"{name}, killed at line {line}: {text}")
            if status == 0:
                break
            line += each
        killed[name] = line // each
    print(json.dumps({"killed": killed, "faults": faults}))  # noqa: T201


main(sys.argv[1], int(sys.argv[2]))
