"""Keeps the messages that a run which is proved has sent, as objects whose rows are compared."""

import json
import uuid
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from tidemark.glue_job.edge.announce import recording_home
from tidemark.local_state.operations import MESSAGES

ENTRIES = {
    "Publish": "",
    "PublishBatch": "PublishBatchRequestEntries",
    "SendMessage": "",
    "SendMessageBatch": "Entries",
}
"""Requests that send, each with the parameter that has its messages; empty: it is one."""
FACTS = ("Subject", "MessageAttributes", "MessageGroupId")
PLACES = ("TopicArn", "TargetArn", "PhoneNumber", "QueueUrl")


def messages_place(service: str, name: str, parameters: Mapping[str, Any]) -> str:
    """Return the URI of an object for what a request sends; empty if it sends nothing.

    A message that a FIFO topic or queue leaves out, since it knows its id, replaces the first one.
    """
    if service not in ("sns", "sqs") or name not in ENTRIES:
        return ""
    place = next((str(parameters[key]) for key in PLACES if key in parameters), "unknown")
    entries = _entries(name, parameters)
    message_ids = [str(entry.get("MessageDeduplicationId") or "") for entry in entries]
    ids = "\n".join(message_ids).encode()
    object_name = sha256(ids).hexdigest() if message_ids and all(message_ids) else str(uuid.uuid4())
    topic = place.replace("/", ":").rpartition(":")[2]
    return f"s3://{MESSAGES}/{service}/{topic}/{object_name}.json"


def keep_messages(place: str, name: str, parameters: Mapping[str, Any]) -> None:
    """Write what a request has sent, a line for each message, if the home records it."""
    home = recording_home()
    if home is None:
        return
    file = home.local_path(place)
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{uuid.uuid4()}")  # the object may be linked elsewhere
    rows = [_row(entry) for entry in _entries(name, parameters)]
    text = "".join(f"{json.dumps(row, default=str)}\n" for row in rows)
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(file)


def _entries(name: str, parameters: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    listed = ENTRIES[name]
    entries: Sequence[Mapping[str, Any]] = parameters.get(listed, ()) if listed else [parameters]
    return entries


def _row(entry: Mapping[str, Any]) -> dict[str, Any]:
    text = next((str(entry[key]) for key in ("Message", "MessageBody") if key in entry), "")
    try:
        fields = json.loads(text)
    except ValueError:
        fields = text
    # A message that is not a JSON object is one text.
    row = dict(fields) if isinstance(fields, dict) else {"message": text}
    return {**row, **{key: json.dumps(entry[key], default=str) for key in FACTS if key in entry}}
