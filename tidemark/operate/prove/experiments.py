"""One way in which a run, or what it reads, goes wrong, as plain data."""

from dataclasses import dataclass

from tidemark.local_state.lost_executor import Moment
from tidemark.local_state.operations import AwsRead, Operation
from tidemark.model.drift import Drift

FIRST = Moment()  # right after the first change


@dataclass(frozen=True)
class Experiment:
    """One way in which a run, or what it reads, goes wrong.

    Attributes:
        kind: the name of its kind.
        title: what happens, for people.
        after: the number of the last operation before a crash, or of the one that fails.
        operation: of a crash or an error, that operation; None of one that reads.
        how: of an error, how the operation, or the request that reads, fails.
        is_in_increment: whether it is in a run that adds to what an earlier run has made.
        is_late: whether a file arrives between a crash and the next run.
        moment: when an executor is killed.
        request: of an error, the request of boto3 that reads; None of others.
        deaths: how many runs in a row die.
        look: how often the run has listed the place of a file before that arrives; 0 without.
        is_dated_earlier: whether a file has a time before that of one that was read.
        drift: of files with other columns, what is otherwise.
        files: their URIs; none of other experiments.
        not_tried: why the experiment is not carried out; empty if it is.
        is_open: whether it could have been: what it does is not known.
    """

    kind: str
    title: str
    after: int = 0
    operation: Operation | None = None
    how: str = ""
    is_in_increment: bool = False
    is_late: bool = False
    moment: Moment = FIRST
    deaths: int = 1
    look: int = 0
    is_dated_earlier: bool = False
    request: AwsRead | None = None
    drift: Drift = "more"
    files: tuple[str, ...] = ()
    not_tried: str = ""
    is_open: bool = False
