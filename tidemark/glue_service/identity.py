"""Identities: on this machine always the same account, and every role exists.

Source: https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
Source: https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetRole.html
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tidemark.model.assembly.intrinsics import ACCOUNT_ID

USER_ID = "AIDAAAAAAAAAAAAAAAAAA"
ROLE_ID = "AROAAAAAAAAAAAAAAAAAA"
SINCE = datetime(2020, 1, 1, tzinfo=UTC)  # creation time of every role


def get_caller_identity(_: Mapping[str, str]) -> dict[str, Any]:
    """Return the account of this machine."""
    arn = f"arn:aws:iam::{ACCOUNT_ID}:user/local"
    return {"UserId": USER_ID, "Account": ACCOUNT_ID, "Arn": arn}


def get_role(request: Mapping[str, str]) -> dict[str, Any]:
    """Return a role of the given name: jobs here need none, clients need its ARN."""
    name = request["RoleName"]
    role = {
        "Path": "/",
        "RoleName": name,
        "RoleId": ROLE_ID,
        "Arn": f"arn:aws:iam::{ACCOUNT_ID}:role/{name}",
        "CreateDate": SINCE,
    }
    return {"Role": role}
