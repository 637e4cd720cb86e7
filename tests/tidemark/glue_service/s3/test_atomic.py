"""An object and all that S3 keeps beside it change as one: for readers, and for a kill."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tidemark.glue_service.conftest import Port
from tests.tries import tries
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.home import Home

READS = 150


def md5(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


def put_whole(s3, bucket, key, body):
    """Put an object all of whose parts are told by its bytes."""
    digest = md5(body)
    s3.put_object(
        Bucket=bucket,
        Key=key,
        Body=body,
        Metadata={"of": digest},
        ContentType=f"text/{digest}",
        Tagging=f"of={digest}",
    )


def told_of(answer):
    return answer["ETag"].strip('"'), answer["ContentType"], answer["Metadata"]


def is_whole(answer):
    etag, content_type, metadata = told_of(answer)
    return (content_type, metadata) == (f"text/{etag}", {"of": etag})


def faults_of_reads(s3, bucket, known):
    """Yield what of the object `o` belongs to two writes."""
    got = s3.get_object(Bucket=bucket, Key="o")
    body = got["Body"].read()
    if told_of(got)[0] != md5(body) or not is_whole(got):
        yield "GET", told_of(got), md5(body)
    if not is_whole(head := s3.head_object(Bucket=bucket, Key="o")):
        yield "HEAD", told_of(head)
    (tag,) = s3.get_object_tagging(Bucket=bucket, Key="o")["TagSet"]
    if tag["Value"] not in known:
        yield "tags", tag
    listed = s3.list_objects_v2(Bucket=bucket, Prefix="o")["Contents"]
    if [one["ETag"].strip('"') in known for one in listed] != [True]:
        yield "list", listed
    part = read_range(s3, bucket, got["ETag"])
    if part not in (None, body[10:20]):
        yield "range", got["ETag"]


def read_range(s3, bucket, etag):
    """Return ten bytes of the object that has an ETag; None if it is another by now."""
    try:
        got = s3.get_object(Bucket=bucket, Key="o", Range="bytes=10-19", IfMatch=etag)
    except ClientError as error:
        if error.response["Error"]["Code"] != "PreconditionFailed":
            raise
        return None
    return got["Body"].read()


@pytest.mark.nightly
def test_readers_see_an_object_of_one_writer_while_others_overwrite_it(port, s3, bucket):
    bodies = [os.urandom(1000) for _ in range(40)]
    known = {md5(body) for body in bodies}
    put_whole(s3, bucket, "o", bodies[0])
    put_whole(s3, bucket, "source", bodies[1])
    is_over = threading.Event()

    def copy(client, source, key):
        client.copy_object(Bucket=bucket, Key=key, CopySource={"Bucket": bucket, "Key": source})

    def write():
        client, number = port.client("s3"), 0
        while not is_over.is_set():
            put_whole(client, bucket, "o", bodies[number % len(bodies)])
            copy(client, "source", "o")
            number += 1

    def read(number):
        copy(s3, "o", f"copy-{number % 4}")
        return list(faults_of_reads(s3, bucket, known))

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write) for _ in range(2)]
        try:
            faults = [fault for found in pool.map(read, range(READS)) for fault in found]
        finally:
            is_over.set()
    for writer in writers:
        writer.result()

    assert faults == []
    heads = [s3.head_object(Bucket=bucket, Key=f"copy-{number}") for number in range(4)]
    assert all(map(is_whole, heads))


def test_two_uploads_of_one_part_leave_one_of_them(port, s3, bucket):
    upload = s3.create_multipart_upload(Bucket=bucket, Key="m")["UploadId"]
    common = {"Bucket": bucket, "Key": "m", "UploadId": upload, "PartNumber": 1}
    bodies = [os.urandom(10) for _ in range(40)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda body: s3.upload_part(**common, Body=body), bodies))

    parts = s3.list_parts(Bucket=bucket, Key="m", UploadId=upload)["Parts"]
    assert [part["ETag"].strip('"') in map(md5, bodies) for part in parts] == [True]
    s3.abort_multipart_upload(Bucket=bucket, Key="m", UploadId=upload)


@pytest.mark.parametrize("each", [27, pytest.param(1, marks=pytest.mark.nightly)])
def test_an_operation_that_is_killed_at_any_line_was_done_or_was_not(tmp_path, each):
    program = Path(__file__).with_name("killed_steps.py")
    command = [sys.executable, program, tmp_path / "home", str(each)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)

    assert found["faults"] == []
    assert min(found["killed"].values()) * each > 50  # lines at which each was killed


KEYS = st.sampled_from(["a", "b/c"])
BODIES = st.binary(max_size=3)
STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "copy", "tag", "delete", "spark"]), KEYS, BODIES), max_size=12
)


def do(port, s3, step, key, body, model):
    """Do a step, and note in the model what it makes: bytes, ETag if known, type, tag."""
    folder, place = port.home.lake / "model", {"Bucket": "model", "Key": key}
    if step == "put":
        put_whole(s3, "model", key, body)
        model[key] = (body, md5(body), f"text/{md5(body)}", md5(body))
    elif step == "delete":
        s3.delete_object(**place)
        model.pop(key, None)
    elif step == "spark":  # a file beside, then renamed: as Spark commits
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / "beside").write_bytes(body)
        (folder / "beside").replace(folder / key)
        model[key] = (body, None, "binary/octet-stream", None)
    elif key in model and step == "tag":
        s3.put_object_tagging(**place, Tagging={"TagSet": [{"Key": "t", "Value": "x"}]})
        model[key] = (*model[key][:3], "x")
    elif key in model:
        other = "b/c" if key == "a" else "a"
        s3.copy_object(Bucket="model", Key=other, CopySource=place)
        model[other] = (model[key][0], md5(model[key][0]), *model[key][2:])


@settings(max_examples=tries(25))
@given(steps=STEPS)
def test_any_operations_leave_what_a_plain_model_says(port, s3, steps):
    s3.create_bucket(Bucket="model")
    model = {}
    for key in ("a", "b/c"):
        s3.delete_object(Bucket="model", Key=key)
    for step, key, body in steps:
        do(port, s3, step, key, body, model)
    listed = s3.list_objects_v2(Bucket="model").get("Contents", [])

    assert {one["Key"] for one in listed} == set(model)
    for one in listed:
        body, etag, content_type, tag = model[one["Key"]]
        got = s3.get_object(Bucket="model", Key=one["Key"])
        tags = s3.get_object_tagging(Bucket="model", Key=one["Key"])["TagSet"]
        assert (got["Body"].read(), got["ContentType"]) == (body, content_type)
        assert [each["Value"] for each in tags] == ([tag] if tag else [])
        assert got["ETag"] == one["ETag"]
        assert got["ETag"] == f'"{etag}"' or etag is None


def test_bodies_of_dead_uploads_go_at_the_next_start_and_parts_stay(tmp_path):
    home = Home.open(tmp_path / "home")
    with serving(home) as (url, engine):
        s3 = Port(home, url, engine).client("s3")
        s3.create_bucket(Bucket="parts")
        upload = s3.create_multipart_upload(Bucket="parts", Key="m")["UploadId"]
        common = {"Bucket": "parts", "Key": "m", "UploadId": upload}
        etag = s3.upload_part(**common, PartNumber=1, Body=b"one")["ETag"]
    uploads = home.root / "uploads"
    (uploads / "0123456789abcdef0123456789abcdef").write_bytes(b"cut off")
    (uploads / upload / "0123456789abcdef.unfinished").write_bytes(b"cut off")
    (uploads / "mpu-begun.unfinished").mkdir()

    with serving(home) as (url, engine):
        s3 = Port(home, url, engine).client("s3")
        assert [path.name for path in uploads.iterdir()] == [upload]
        parts = [{"PartNumber": 1, "ETag": etag}]
        s3.complete_multipart_upload(**common, MultipartUpload={"Parts": parts})
        assert s3.get_object(Bucket="parts", Key="m")["Body"].read() == b"one"
        assert list(uploads.iterdir()) == []
