"""Tokens of tasks that wait for an answer: each names its execution and its step."""

import base64
import binascii
import json


def token_of(arn: str, step: str) -> str:
    """Return the token of a step.

    >>> step_of_token(token_of("arn", "A#0.1:end"))
    ('arn', 'A#0.1:end')
    """
    return base64.urlsafe_b64encode(json.dumps([arn, step]).encode()).decode()


def step_of_token(token: str) -> tuple[str, str] | None:
    """Return the ARN of the execution, and the step; None if nothing here gave that token."""
    try:
        arn, step = json.loads(base64.urlsafe_b64decode(token.encode()))
    except (binascii.Error, ValueError, TypeError):
        return None
    return str(arn), str(step)
