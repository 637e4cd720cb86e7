"""What a user of the constructs can get wrong; `app.py` prints these as one line.

InputError
├── ConfigError          the context does not describe a stage
├── JobDefinitionError   a pipeline or job is declared in a way that cannot be deployed
└── ScheduleError        a schedule is not valid, or never fires
    └── TooFineError     it fires more often than runs can keep up with
"""


class InputError(ValueError):
    """Something the user gave is not usable: the message says what, and what to do."""


class ConfigError(InputError):
    """The context does not describe a stage that can be deployed."""


class JobDefinitionError(InputError):
    """A pipeline or a job is declared in a way that cannot be deployed."""


class ScheduleError(InputError):
    """An expression or a time zone that AWS does not document, or that never fires."""


class TooFineError(ScheduleError):
    """A schedule that fires more often than runs can keep up with."""
