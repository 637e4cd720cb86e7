"""Which role an adopted job or crawler keeps: pure, on plain data."""

import re

from tidemark.adopt.reading import Reading

ROLE = re.compile(r"arn:[\w-]+:iam::\d{12}:role/[\w+=,.@/-]{1,640}", re.ASCII)
NO_ARN = (
    "its ARN is not known, which from_role_arn needs, so it gets its own role",
    "look it up (aws iam get-role), and pass it: role=iam.Role.from_role_arn(...)",
)


KEPT = (
    "it is kept, and gets one more inline policy with the declared permissions; it may allow more "
    "than these, to all that share it",
    "compare its policies with what `tidemark grants` prints, and remove the rest",
)


def kept_role(resource: Reading) -> str | None:
    """Return the ARN of the role that a job or crawler keeps, and account for it."""
    role = resource.get("Role")
    if isinstance(role, str) and ROLE.fullmatch(role):
        resource.differ("Role", why=KEPT[0], do=KEPT[1])
        return role
    if role is not None:
        resource.differ("Role", why=NO_ARN[0], do=NO_ARN[1])
    return None
