"""Texts of others with their control characters made visible, for terminals, pages and XML."""

import re
import unicodedata

LINE_END = re.compile(r"\r\n")
NOT_PLAIN = re.compile(r"[^ -~\n\t]")
# Controls, what turns text around or is never drawn, bytes that are not UTF-8, ends of lines.
COMMANDING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
JOINERS = "\u200c\u200d"  # of letters and of emoji, in names of many languages


def visible(text: str) -> str:
    r"""Return a text whose control characters are written as ``\u001b``, as JSON writes them.

    Tabs and ends of lines stay. JSON stays JSON, and what was made visible stays as it is.

    Example:
        >>> visible("\x1b[2Jdone")
        '\\u001b[2Jdone'
    """
    return NOT_PLAIN.sub(_shown, LINE_END.sub("\n", text))


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    if unicodedata.category(character) not in COMMANDING or character in JOINERS:
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
