"""Filter patterns of CloudWatch Logs: terms of unstructured lines.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
"""

import re
from collections.abc import Callable

from tidemark.glue_service.protocol.service_errors import ServiceError

TERM = re.compile(r'\s*([?-]?)(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))(?=\s|$)')


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that matches lines: all terms, none with -, one of those with ?."""
    text = pattern.strip()
    if text.startswith(("{", "[", "%")):
        raise _refused(pattern)
    needed: list[str] = []
    excluded: list[str] = []
    optional: list[str] = []
    place = 0
    while place < len(text):
        match = TERM.match(text, place)
        if match is None:
            raise _refused(pattern)
        word = re.sub(r"\\(.)", r"\1", match[2]) if match[2] is not None else match[3]
        {"": needed, "-": excluded, "?": optional}[match[1]].append(word)
        place = match.end()

    def matches(line: str) -> bool:
        return (
            all(word in line for word in needed)
            and not any(word in line for word in excluded)
            and (not optional or bool(needed) or any(word in line for word in optional))
        )

    return matches


def _refused(pattern: str) -> ServiceError:
    return ServiceError(
        "InvalidParameterException",
        f"filterPattern {pattern!r} does not work on this machine; allowed: terms, such as "
        'ERROR -retry "of the job"',
    )
