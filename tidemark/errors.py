"""Errors by a user's action, or on a user's machine: each message is one line for people.

TidemarkError
├── UsageError                     the caller asked for something that cannot be: exit code 2
│   ├── ArgumentError              an argument that raises ValueError on AWS (also one)
│   ├── ArgumentTypeError          an argument that raises TypeError on AWS (also one)
│   └── NotInstalledError          a package of an extra is missing: exit code 3 of a verdict
├── InputError                     an app declares what cannot be deployed (also a ValueError)
│   ├── ConfigError                the context does not describe a stage
│   ├── JobDefinitionError         a pipeline or job is declared in a way that cannot be deployed
│   └── ScheduleError              a schedule is not valid, or never fires
│       └── TooFineError           it fires more often than runs can keep up with
├── EntityNotFoundError            Glue's EntityNotFoundException
├── NotProvedError                 nothing of a proof could be tried: exit code 3
├── DiskFullError                  a disk has no room for new data
├── DamagedDatabaseError           a state database cannot be read, or only in parts
├── UnsupportedError               valid on AWS, not run here (also a NotImplementedError)
└── BookmarkVersionMismatchError   Glue's VersionMismatchException, raised by Job.commit
"""

import json


class TidemarkError(Exception):
    """Base of every error that is raised on purpose; its message is for the operator."""


class UsageError(TidemarkError):
    """The request itself is wrong; nothing was started."""


class ArgumentError(UsageError, ValueError):
    """An argument that AWS's library refuses with a ValueError, which scripts catch."""


class ArgumentTypeError(UsageError, TypeError):
    """An argument that AWS's library refuses with a TypeError, which scripts catch."""


class NotInstalledError(UsageError):
    """A package of an extra is not installed; the message names the extra."""


class InputError(TidemarkError, ValueError):
    """A declaration of an app is not usable: the message says what, and what to do."""


class ConfigError(InputError):
    """The context does not describe a stage that can be deployed."""


class JobDefinitionError(InputError):
    """A pipeline or a job is declared in a way that cannot be deployed."""


class ScheduleError(InputError):
    """An expression or a time zone that AWS does not document, or that never fires."""


class TooFineError(ScheduleError):
    """A schedule that fires more often than runs can keep up with."""


class NotProvedError(TidemarkError):
    """Nothing of a proof could be tried: what is to be proved does not even run well."""


class EntityNotFoundError(TidemarkError):
    """A job, trigger, workflow or bucket that the template does not define."""


class DiskFullError(TidemarkError):
    """A disk is full; stored data stays unchanged."""


class DamagedDatabaseError(TidemarkError):
    """A state database is damaged; nothing was changed."""


class UnsupportedError(TidemarkError, NotImplementedError):
    """Something valid on AWS that the local Glue does not run; never accepted and ignored."""


class BookmarkVersionMismatchError(TidemarkError):
    """Another run of the same job committed its bookmark first.

    Source: https://docs.aws.amazon.com/glue/latest/dg/glue-troubleshooting-errors.html
    """

    def __init__(self, expected: int, found: int) -> None:
        super().__init__(
            "Continuation update failed due to version mismatch. "
            f"Expected version {expected} but found version {found}"
        )


def show(value: object) -> str:
    """Return a value as JSON spells it, cut to a readable length."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= 120 else f"{text[:117]}..."
