"""Refuses descriptions and tags of a job or crawler that AWS would refuse.

Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-job.html (bytes),
https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html (names that differ in case only)
"""

import re
from collections.abc import Mapping

from tidemark.errors import JobDefinitionError
from tidemark.model.checked import TOKEN, wrong
from tidemark.model.plain_secrets import shows_secret
from tidemark.model.stage.settings import MAX_TAGS, TAG_NAME, TAG_VALUE, same_but_for_case

DESCRIPTION = re.compile(r"(?=.*\S)[^\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]+", re.DOTALL)
MAX_BYTES = 2_048  # of a description
ALLOWED = (
    f"a string of 1 to {MAX_BYTES} bytes that is not blank, without control characters other than "
    "tab and new line"
)


def check_description(of: str, text: str | None) -> None:
    """Raise unless Glue accepts a description, which may be None, and it shows no secret.

    Args:
        of: its owner: `JobOptions`.
        text: the description.

    Raises:
        JobDefinitionError: it is too long, or shows a secret.
    """
    if text is None:
        return
    if not DESCRIPTION.fullmatch(text) or len(text.encode()) > MAX_BYTES:
        raise wrong(of, "description", text, ALLOWED)
    if shows_secret("", text):
        raise JobDefinitionError(
            f"{of} has a description that looks as if it held a secret, which everyone would see; "
            "allowed: a string without one; correct description="
        )


def check_own_tags(of: str, tags: Mapping[str, str]) -> None:
    """Raise unless AWS accepts tags, and they show no secret.

    Args:
        of: their owner.
        tags: name to value.

    Raises:
        JobDefinitionError: there are too many, or one shows a secret.
    """
    allowed = (
        f"up to {MAX_TAGS} names of 1 to 128 and values of up to 256 letters, digits, spaces "
        "and _.:/=+-@, no name that starts with aws: or tidemark:"
    )
    if len(tags) > MAX_TAGS:
        raise wrong(of, "tags", tags, allowed)
    for name, value in tags.items():
        is_late = TOKEN in value  # the deployment knows it
        if not (TAG_NAME.fullmatch(name) and (is_late or TAG_VALUE.fullmatch(value))):
            raise wrong(of, "tags", {name: value}, allowed)
        if shows_secret(name, value):
            raise JobDefinitionError(
                f"{of} has the tag {name!r} with a value that looks like a secret, which everyone "
                "would see; allowed: values that are not secret; remove it"
            )
    if alike := same_but_for_case(tags):
        raise wrong(of, "tags", list(alike), "names that differ in more than their case")
