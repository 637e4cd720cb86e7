"""Tokens of tasks that wait for an answer: execution, attempt, and a secret of that attempt."""

import base64
import binascii
import json

SECRET = "token"  # noqa: S105 (the step of an attempt that has it)
END = "end"  # the step that has the answer


def token_of(arn: str, attempt: str, secret: str) -> str:
    """Return the token of an attempt of a task.

    >>> parts_of_token(token_of("arn", "A#1.1", "x"))
    ('arn', 'A#1.1', 'x')
    """
    return base64.urlsafe_b64encode(json.dumps([arn, attempt, secret]).encode()).decode()


def parts_of_token(token: str) -> tuple[str, str, str] | None:
    """Return the ARN of the execution, the attempt, and the secret; None for no such token."""
    try:
        arn, attempt, secret = json.loads(base64.urlsafe_b64decode(token.encode()))
    except (binascii.Error, ValueError, TypeError):
        return None
    return str(arn), str(attempt), str(secret)
