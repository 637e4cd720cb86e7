"""Rulesets of Glue Data Quality.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html
"""

import re
from dataclasses import dataclass

from tidemark.errors import JobDefinitionError

QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
RULES = re.compile(r"\bRules\s*=\s*\[")
NO_RULES = re.compile(r"\bRules\s*=\s*\[[\s,]*\]")
PAIRS = {")": "(", "]": "["}
MAX_CHARACTERS = 65_536  # of a ruleset
MAX_DESCRIPTION = 2_048
NAME = re.compile(r"[A-Za-z0-9_-]{1,255}")


@dataclass(frozen=True)
class DataQualityRuleset:
    """Rules in DQDL about the rows of a table, kept in Glue.

    What makes a rule is left to Glue; brackets and the list of rules are checked here.

    Attributes:
        rules: such as `Rules = [RowCount > 0, IsComplete "id"]`.
        name: its name in Glue; empty: `<database>_<table>`.
        description: what it is for.

    Raises:
        JobDefinitionError: there is no list of rules, it is empty, or a bracket is left open.
    """

    rules: str
    name: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        if reason := _wrong_with(self.rules):
            raise JobDefinitionError(
                f"a data quality ruleset has the rules {self.rules!r}, of which {reason}; allowed: "
                "DQDL with rules, as in 'Rules = [RowCount > 0, IsComplete \"id\"]'; correct rules="
            )
        if self.name and not NAME.fullmatch(self.name):
            raise JobDefinitionError(
                f"a data quality ruleset has the name {self.name!r}; allowed: '', or letters, "
                "digits, _ and -; correct name="
            )
        if len(self.description) > MAX_DESCRIPTION:
            raise JobDefinitionError(
                f"a data quality ruleset has the description {self.description!r}; allowed: a "
                "string of up to 2,048 characters; correct description="
            )


def _wrong_with(text: str) -> str:
    """Return what is wrong with DQDL, empty if nothing is seen."""
    if len(text) > MAX_CHARACTERS:
        return f"there are more than {MAX_CHARACTERS:,} characters"
    bare = QUOTED.sub("''", text)
    if '"' in bare:
        return "a quote is left open"
    if wrong := _wrong_brackets(bare):
        return wrong
    if not RULES.search(bare):
        return "'Rules = [' is missing"
    return "the list of rules is empty" if NO_RULES.search(bare) else ""


def _wrong_brackets(text: str) -> str:
    opened: list[str] = []
    for sign in text:
        if sign in PAIRS.values():
            opened.append(sign)
        elif sign in PAIRS and (not opened or opened.pop() != PAIRS[sign]):
            return f"{sign!r} closes no bracket"
    return f"{opened[-1]!r} is left open" if opened else ""
