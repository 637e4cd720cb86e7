"""Job.init and Job.commit: the life of a job bookmark within a run.

Source: https://docs.aws.amazon.com/glue/latest/dg/programming-etl-connect-bookmarks.html
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemark.glue_job.process.bookmark_session import BookmarkSession, start_session
from tidemark.model.assembly.definitions import CONTINUATION_OPTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from awsglue.context import GlueContext


class Job:
    """One Glue job as its script sees it."""

    @classmethod
    def continuation_options(cls) -> list[str]:
        """Return the older argument for bookmarks, and its values."""
        return ["--continuation-option", *CONTINUATION_OPTIONS]

    @classmethod
    def job_bookmark_options(cls) -> list[str]:
        """Return the argument for bookmarks, and its values."""
        return ["--job-bookmark-option", *CONTINUATION_OPTIONS.values()]

    @classmethod
    def job_bookmark_range_options(cls) -> list[str]:
        """Return the arguments for the two runs between which job-bookmark-pause reads."""
        return ["--job-bookmark-from", "--job-bookmark-to"]

    @classmethod
    def id_params(cls) -> list[str]:
        """Return the arguments that identify the run."""
        return ["--JOB_NAME", "--JOB_ID", "--JOB_RUN_ID", "--SECURITY_CONFIGURATION"]

    @classmethod
    def encryption_type_options(cls) -> list[str]:
        """Return the argument for encryption, and its value."""
        return ["--encryption-type", "sse-s3"]

    @classmethod
    def data_lineage_options(cls) -> list[str]:
        """Return the argument for data lineage, and its value."""
        return ["--enable-data-lineage", "true"]

    def __init__(self, glue_context_or_spark_session: "GlueContext | SparkSession") -> None:
        self._context = glue_context_or_spark_session
        self._session: BookmarkSession | None = None

    def init(self, job_name: str, args: Mapping[str, Any] | None = None) -> None:
        """Load the job's bookmark; sources opened from now on read data that is new to it.

        Args:
            job_name: the job of the bookmark.
            args: the result of getResolvedOptions; without it bookmarks are disabled.
        """
        self._session = start_session(job_name, args or {})

    def isInitialized(self) -> bool:
        """Return whether init was called."""
        return self._session is not None

    def commit(self) -> None:
        """Store the bookmark of everything read since init, all contexts at once.

        Only with job-bookmark-enable. Without a prior init nothing happens.

        Raises:
            BookmarkVersionMismatchError: another run of the job committed in between.
        """
        if self._session is not None:
            self._session.commit()
