"""A job script that copies the new files of a folder, and dies by SIGKILL at the step CRASH_AT.

It reads as create_dynamic_frame does, but copies the files itself: no step needs a JVM.
"""

import shutil
import sqlite3
import sys
from functools import partial

from steps import around, step

from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from tidemark.glue_job.process import bookmark_session as session
from tidemark.local_state.bookmarks.sources import S3Source


class SteppingConnection(sqlite3.Connection):
    """A connection whose statements are steps while the bookmark is stored."""

    is_committing = False

    def execute(self, statement, *values):
        name = statement.split()[0]
        if not self.is_committing or name in ("PRAGMA", "SELECT"):
            return super().execute(statement, *values)
        step(f"before {name}")
        cursor = super().execute(statement, *values)
        step(f"after {name}")
        return cursor


def commit_in_steps(session):
    SteppingConnection.is_committing = True
    try:
        commit(session)
    finally:
        SteppingConnection.is_committing = False


def copy_files(files, target):
    target.mkdir(parents=True)
    for file in files:
        shutil.copy(session.folder_of(file.path), target)


commit, session.BookmarkSession.commit = session.BookmarkSession.commit, commit_in_steps
sqlite3.connect = partial(sqlite3.connect, factory=SteppingConnection)
around(Job, "init", "Job.init")
around(Job, "commit", "Job.commit")
around(session.BookmarkSession, "record", "storing what is read")
around(session, "files_to_read", "opening the source")
around(sys.modules[__name__], "copy_files", "the write")

args = getResolvedOptions(sys.argv, ["JOB_NAME", "source_path", "target_path"])
job = Job(None)
job.init(args["JOB_NAME"], args)
reading = session.files_to_read(S3Source((args["source_path"],), "landed", "json"))
copy_files(reading.files, session.folder_of(args["target_path"]) / args["JOB_RUN_ID"])
job.commit()
