"""Errors of the local Glue.

GlueLocalError
├── UsageError                     the caller asked for something that cannot be: exit code 2
├── EntityNotFoundError            Glue's EntityNotFoundException
├── DiskFullError                  a disk has no room for what is to be stored
├── DamagedDatabaseError           a state database cannot be read, or only in parts
├── UnsupportedError               valid on AWS, not run here (also a NotImplementedError)
└── BookmarkVersionMismatchError   Glue's VersionMismatchException, raised by Job.commit
"""


class GlueLocalError(Exception):
    """Base of every error that the local Glue raises on purpose; its text is for the operator."""


class UsageError(GlueLocalError):
    """The request itself is wrong; nothing was started."""


class EntityNotFoundError(GlueLocalError):
    """A job, trigger, workflow or bucket that the template does not define."""


class DiskFullError(GlueLocalError):
    """A disk is full; what was stored before stays as it is."""


class DamagedDatabaseError(GlueLocalError):
    """A state database is damaged; nothing was changed."""


class UnsupportedError(GlueLocalError, NotImplementedError):
    """Something valid on AWS that the local Glue does not run; never accepted and ignored."""


class BookmarkVersionMismatchError(GlueLocalError):
    """Another run of the same job committed its bookmark first.

    Source: https://docs.aws.amazon.com/glue/latest/dg/glue-troubleshooting-errors.html
    """

    def __init__(self, expected: int, found: int) -> None:
        super().__init__(
            "Continuation update failed due to version mismatch. "
            f"Expected version {expected} but found version {found}"
        )
