"""Declares that a state machine of the app starts a pipeline, and nothing else does."""

from dataclasses import dataclass

import jsii
from constructs import IValidation

from tidemark.model.checked import checked


@checked
@dataclass(frozen=True)
class ByStateMachine:
    """A start by a state machine of the app, with `Pipeline.start_task`, and by nothing else.

    Example:
        >>> ByStateMachine().described
        'a state machine'
    """

    @property
    def described(self) -> str:
        """Return what starts a run, in readable form."""
        return "a state machine"


@jsii.implements(IValidation)
class IsStarted:
    """Finds a pipeline that a state machine is to start, and none does."""

    def __init__(self, pipeline: str) -> None:
        """Report the pipeline until `is_started`."""
        self.is_started = False
        self._pipeline = pipeline

    def validate(self) -> list[str]:
        """Return the problem, if there is one."""
        if self.is_started:
            return []
        return [
            f"pipeline '{self._pipeline}' has starts=[ByStateMachine()], and no task starts it; "
            "put pipeline.start_task(scope, id) into a state machine, or declare another start"
        ]
