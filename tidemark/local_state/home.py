"""The state home: where the lake, the databases and the logs of local runs live."""

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from errno import EACCES, EROFS
from functools import lru_cache
from pathlib import Path
from typing import TextIO

from tidemark.errors import DiskFullError, EntityNotFoundError, UsageError
from tidemark.local_state.home_folder import (
    DATABASES,
    KEY_FILE,
    MARKER,
    ONLY_ITS_OWNER,
    STORE_FILE,
    TABLES,
    check_writable,
    folder_of_home,
    not_writable,
    refuse_foreign,
    restrict_access,
)
from tidemark.local_state.machine.disk import full_disk_line, has_room, is_full
from tidemark.local_state.store.read_only import copy_to_look_at, empty_folder, is_read_only
from tidemark.local_state.store.restored import finish_restore, has_unfinished_restore
from tidemark.local_state.store.state_record import check_state

RUN_ID_VARIABLE = "TIDEMARK_JOB_RUN_ID"  # names the run in the environment of its process
S3_SCHEMES = ("s3", "s3a", "s3n")
BUCKET_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}")  # as S3 allowed before 2018
# Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
NEW_BUCKET_NAME = re.compile(
    r"(?!.*\.\.)(?!\d+\.\d+\.\d+\.\d+$)(?!xn--|sthree-|amzn-s3-demo-)"
    r"(?!.*(-s3alias|--ol-s3|\.mrap|--x-s3|--table-s3)$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
)
BUCKET_NAMES = (
    "3 to 63 lower-case letters, digits, hyphens and dots, with a letter or a digit at both ends; "
    "no IP address, and no start or end that AWS keeps for itself, such as 'xn--' or '-s3alias'"
)
# The message of S3's error in Spark.
NO_BUCKET = (
    "The specified bucket does not exist "
    "(Service: Amazon S3; Status Code: 404; Error Code: NoSuchBucket)"
)
UPLOADS = "uploads"  # folder of the home: what clients of S3 write, until it is an object
ONLY_LOOKS: ContextVar[bool] = ContextVar("only_looks", default=False)  # the command of now
REWIND_LOCK = "rewind-lock"
JVMS_FOLDER = "jvms"  # of commands that run now
JVM_POOL_FILE = "jvm-pool.json"  # with it commands find the pool of another
PORT_FILE = "port.json"  # with it commands find the port that serves the home
GIT_IGNORES = ".gitignore"  # all of the home: it has secrets, and no repository is asked first
# Maybe: a reset keeps them.
IN_USE = (MARKER, GIT_IGNORES, "lock", REWIND_LOCK, JVMS_FOLDER, JVM_POOL_FILE, KEY_FILE)
LOCK_PATIENCE_S = 0.5  # longer than anybody holds the lock only to look
MARKER_CONTENT = "State of local Tidemark runs. `tidemark home reset` empties this folder.\n"


def _open_lock(file: Path) -> TextIO:
    try:
        return file.open("a+", encoding="utf-8")
    except OSError as error:
        # A lock needs no right to write: that of a read-only home is only read.
        if error.errno not in (EACCES, EROFS):
            raise
        return file.open(encoding="utf-8")


def delete_entry(path: Path) -> None:
    """Delete a file, a folder or a symbolic link; the target of a link stays."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


@dataclass(frozen=True)
class Home:
    """Paths inside one state home; the folder exists and is writable.

    Attributes:
        root: the folder.
        copy_of: the read-only home that it was copied from; else None.
    """

    root: Path
    copy_of: Path | None = None

    @classmethod
    def from_environment(cls) -> "Home":
        """Open the home that ``TIDEMARK_HOME`` names, else ``.tidemark`` in the current folder.

        A command that `looks` gets a copy of one that it may not write, and an empty one for
        one that does not exist. A home that has lost a file of its state is refused.
        """
        home = cls._from_environment()
        check_state(home.root, home.shown)
        return home

    @classmethod
    def _from_environment(cls) -> "Home":
        root = folder_of_home()
        if ONLY_LOOKS.get() and not os.path.lexists(root):
            return replace(cls.open(empty_folder()), copy_of=root)  # nothing is there, nor will be
        if ONLY_LOOKS.get() and (root / MARKER).exists():
            if is_read_only(root):
                return cls._copied(root, "cannot be written")
            if not has_room(root):
                return cls._copied(root, "is on a full disk")
        return cls.open(root)

    @classmethod
    def _copied(cls, root: Path, why: str) -> "Home":
        try:
            return cls(copy_to_look_at(root, DATABASES, why), copy_of=root)
        except OSError as error:
            if not is_full(error):
                raise
            raise DiskFullError(
                f"{full_disk_line(Path(tempfile.gettempdir()))}; make room, or set TMPDIR to a "
                "folder that has some: what cannot be written is read through a copy"
            ) from error

    @classmethod
    def open(cls, root: Path) -> "Home":
        """Create the folder if needed and return it as a home."""
        home = cls(root.absolute())
        try:
            home._claim()
            if has_unfinished_restore(home.root):
                with home.exclusive():
                    finish_restore(home.root)
        except OSError as error:
            if is_full(error):
                raise DiskFullError(
                    f"{full_disk_line(home.root)}; nothing was changed: make room, then run again"
                ) from error
            raise not_writable(home.root, error) from error
        return home

    def _claim(self) -> None:
        refuse_foreign(self.root)
        marker = self.root / MARKER
        if not marker.exists():
            self.root.mkdir(mode=ONLY_ITS_OWNER, parents=True, exist_ok=True)
            marker.write_text(MARKER_CONTENT, encoding="utf-8")
            (self.root / GIT_IGNORES).write_text("*\n", encoding="utf-8")
        restrict_access(self.root)
        for folder in (self.lake, self.runs, self.dynamodb, self.derby):
            folder.mkdir(exist_ok=True)
        check_writable(self.root)

    @property
    def shown(self) -> Path:
        """The folder that messages name."""
        return self.copy_of or self.root

    @property
    def created_at_ms(self) -> int:
        """When the home was created, in epoch milliseconds."""
        return (self.root / MARKER).stat().st_mtime_ns // 10**6

    @property
    def lake(self) -> Path:
        """The folder whose sub-folders are the buckets."""
        return self.root / "lake"

    @property
    def runs(self) -> Path:
        """The folder with one sub-folder per job run: script, logs, Spark events."""
        return self.root / "runs"

    @property
    def dynamodb(self) -> Path:
        """The folder of the embedded DynamoDB engine."""
        return self.root / "dynamodb"

    @property
    def dynamodb_tables(self) -> Path:
        """The SQLite file of the embedded DynamoDB engine."""
        return self.root / TABLES

    @property
    def derby(self) -> Path:
        """The folder of embedded Derby databases (``jdbc:derby:NAME``)."""
        return self.root / "derby"

    @property
    def database(self) -> Path:
        """The SQLite file of job runs, workflow runs and bookmarks."""
        return self.root / STORE_FILE

    def local_path(self, uri: str) -> Path:
        """Return the folder or file of this machine for an ``s3://bucket/key`` URI."""
        scheme, _, rest = uri.partition("://")
        bucket, _, key = rest.partition("/")
        if scheme not in S3_SCHEMES or not BUCKET_NAME.fullmatch(bucket):
            raise UsageError(f"{uri!r} is not a place in S3; write it as s3://bucket/key")
        parts = key.split("/")
        if ".." in parts:
            raise UsageError(
                f"{uri!r} has a part '..', which leads out of its folder; leave it out"
            )
        return self.lake.joinpath(bucket, *filter(None, parts))

    def uri_of(self, path: Path) -> str:
        """Return the URI of a file or folder of the lake."""
        return f"s3://{path.relative_to(self.lake).as_posix()}"

    def existing_path(self, uri: str) -> Path:
        """Return `local_path`, for a bucket that exists."""
        path = self.local_path(uri)
        bucket = path.relative_to(self.lake).parts[0]
        if not (self.lake / bucket).is_dir():
            buckets = sorted(folder.name for folder in self.lake.iterdir())
            remedy = (
                f"create it with `tidemark bucket {bucket}`"
                if NEW_BUCKET_NAME.fullmatch(bucket)
                else f"no bucket can have the name {bucket!r} (allowed: {BUCKET_NAMES}): correct "
                "it in the script or in the argument that it comes from"
            )
            raise EntityNotFoundError(
                f"{NO_BUCKET}: s3://{bucket} has no folder in the local lake "
                f"{self.shown / 'lake'}, which has {', '.join(buckets) or 'none'}; {remedy}"
            )
        try:
            parent = _real_folder(path.parent)
            real = path.resolve() if path.is_symlink() else parent / path.name
        except (OSError, RuntimeError) as error:  # the latter before Python 3.13
            raise UsageError(
                f"{uri} leads back to itself by a symbolic link; delete the link in the lake "
                f"{self.shown / 'lake'}"
            ) from error
        if not real.is_relative_to(_real_folder(self.lake)):
            raise UsageError(
                f"{uri} leads out of the lake by a symbolic link, to {real}; copy the files into "
                f"the lake {self.shown / 'lake'}"
            )
        return path

    def create_bucket(self, name: str) -> bool:
        """Create a bucket, a folder of the lake; return False if it exists."""
        if not NEW_BUCKET_NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be the name of a bucket; allowed: {BUCKET_NAMES}")
        folder = self.lake / name
        is_new = not folder.is_dir()
        folder.mkdir(exist_ok=True)
        return is_new

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the home for one workflow run at a time."""
        text = "is using {root}; wait for it, stop it, or set TIDEMARK_HOME to another folder"
        with self._locked("lock", text):
            yield

    @contextmanager
    def alone_to_rewind(self) -> Iterator[None]:
        """Let no other process carry a rewind out meanwhile, finish it or take it back."""
        text = (
            "carries out a rewind of {root} now; nothing was changed: wait for it, then look at "
            "`tidemark rewind list`"
        )
        with self._locked(REWIND_LOCK, text):
            yield

    @contextmanager
    def _locked(self, name: str, text: str) -> Iterator[None]:
        with _open_lock(self.root / name) as lock:
            if not _lock(lock):
                lock.seek(0)
                holder = lock.read().strip() or "unknown"
                raise UsageError(f"process {holder} {text.format(root=self.shown)}")
            # On a full disk the holder stays unknown.
            with contextlib.suppress(OSError):
                os.ftruncate(lock.fileno(), 0)
                os.pwrite(lock.fileno(), str(os.getpid()).encode(), 0)
            yield

    def is_held(self) -> bool:
        """Return whether a command holds the home now: the runs that count as RUNNING do run."""
        try:
            with (self.root / "lock").open(encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False

    def holder(self) -> int | None:
        """Return the process id of the command that holds the home now; None if none does."""
        if not self.is_held():
            return None
        text = (self.root / "lock").read_text(encoding="utf-8", errors="replace").strip()
        return int(text) if text.isascii() and text.isdigit() else None

    def held_since_ms(self) -> int:
        """Return when the last command began to hold the home, epoch milliseconds."""
        return (self.root / "lock").stat().st_mtime_ns // 1_000_000

    def reset(self) -> None:
        """Delete everything in the home: data, bookmarks, watermarks, runs and logs."""
        with self.exclusive():
            for entry in self.root.iterdir():
                if entry.name in IN_USE:
                    continue
                delete_entry(entry)
        self._claim()


@lru_cache(maxsize=4096)
def _real_folder(folder: Path) -> Path:
    # Cached, since the files of a source share their folders.
    return folder.resolve()


def _lock(lock: TextIO) -> bool:
    deadline = time.monotonic() + LOCK_PATIENCE_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        else:
            return True


def has_uploads(home: Home) -> bool:
    """Return whether clients of S3 have begun to write something, and may have died."""
    folder = home.root / UPLOADS
    return folder.is_dir() and any(folder.iterdir())
