"""The access key of a home's port: what clients sign with, in a file that only its owner reads.

It stays the same as long as the home exists, so a shell that has it keeps working.
"""

import fcntl
import json
import os
import secrets
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import KEY_FILE
from tidemark.local_state.store.state_record import note

# Of every home: emulators of DynamoDB keep other tables for every id.
KEY_ID = "local"
ID_VARIABLE, SECRET_VARIABLE = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"
MEMBER = "secret_access_key"
ONLY_ITS_OWNER = 0o600


@dataclass(frozen=True)
class AccessKey:
    """An access key as AWS has them."""

    secret: str = field(repr=False)
    key_id: str = KEY_ID

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that give it to clients of AWS.

        Example:
            AccessKey("s").variables["AWS_SECRET_ACCESS_KEY"] is "s".
        """
        return {ID_VARIABLE: self.key_id, SECRET_VARIABLE: self.secret}

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments of `boto3.client` that give it."""
        return {"aws_access_key_id": self.key_id, "aws_secret_access_key": self.secret}


def access_key(home: Home) -> AccessKey:
    """Return the access key of a home's port, and create it if it is missing.

    In a home that cannot be written, it is one of this process.
    """
    file = home.root / KEY_FILE
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, ONLY_ITS_OWNER)
    except OSError as error:
        return _only_read(file, error)
    with os.fdopen(descriptor, "r+b") as stream:
        # Two commands may start at the same time.
        fcntl.flock(stream, fcntl.LOCK_EX)
        os.fchmod(descriptor, ONLY_ITS_OWNER)
        if (key := _key_of(stream.read())) is not None:
            return key
        new_key = _new_key()
        stream.seek(0)
        stream.truncate()
        stream.write(json.dumps({MEMBER: new_key.secret}).encode())
    note(home.root, KEY_FILE, 0)
    return new_key


def key_of_environment() -> AccessKey:
    """Return the access key that this process was given for a port; else one without a meaning."""
    secret = os.environ.get(SECRET_VARIABLE, "") if os.environ.get(ID_VARIABLE) == KEY_ID else ""
    return AccessKey(secret or KEY_ID)


def _only_read(file: Path, error: OSError) -> AccessKey:
    try:
        key = _key_of(file.read_bytes())
    except FileNotFoundError:
        return _key_of_process(file)
    except OSError:
        raise UsageError(
            f"{file}, with the access key of the port, cannot be read: {error.strerror}; delete "
            "it as its owner, and a new one is created"
        ) from error
    return key or _key_of_process(file)


@lru_cache
def _key_of_process(_: Path) -> AccessKey:
    return _new_key()


def _new_key() -> AccessKey:
    return AccessKey(secrets.token_hex(20))


def _key_of(content: bytes) -> AccessKey | None:
    try:
        secret = json.loads(content)[MEMBER]
    except (TypeError, ValueError, KeyError):  # new, or half of one, of a process that was killed
        return None
    return AccessKey(secret) if isinstance(secret, str) and secret else None
