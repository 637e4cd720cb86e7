"""Rulesets of Glue Data Quality.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html
"""

import re
from dataclasses import dataclass

from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked

QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
RULES = re.compile(r"\bRules\s*=\s*\[")
NO_RULES = re.compile(r"\bRules\s*=\s*\[[\s,]*\]")
PAIRS = {")": "(", "]": "["}
MAX_CHARACTERS = 65_536  # of a ruleset
MAX_DESCRIPTION = 2_048
NAME = re.compile(r"[A-Za-z0-9_-]{1,255}")


@checked
@dataclass(frozen=True)
class DataQualityRuleset:
    """Rules in DQDL about the rows of a table, stored in Glue.

    Glue checks the rules themselves; brackets and the list of rules are checked here.

    Attributes:
        rules: such as `Rules = [RowCount > 0, IsComplete "id"]`.
        name: its name in Glue; by default `<database>_<table>`.
        description: the purpose of the rules.

    Raises:
        JobDefinitionError: the list of rules is missing or empty, or a bracket is not closed.

    Example:
        >>> DataQualityRuleset('Rules = [RowCount > 0, IsComplete "id"]').rules
        'Rules = [RowCount > 0, IsComplete "id"]'
    """

    rules: str
    name: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        if reason := _find_problem(self.rules):
            raise JobDefinitionError(
                f"a data quality ruleset has the rules {self.rules!r}: {reason}; allowed: "
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


def _find_problem(text: str) -> str:
    """Return what is wrong with DQDL; empty if nothing is found."""
    if len(text) > MAX_CHARACTERS:
        return f"there are more than {MAX_CHARACTERS:,} characters"
    bare = QUOTED.sub("''", text)
    if '"' in bare:
        return "a quote is not closed"
    if wrong := _bracket_problem(bare):
        return wrong
    if not RULES.search(bare):
        return "'Rules = [' is missing"
    return "the list of rules is empty" if NO_RULES.search(bare) else ""


def _bracket_problem(text: str) -> str:
    opened: list[str] = []
    for sign in text:
        if sign in PAIRS.values():
            opened.append(sign)
        elif sign in PAIRS and (not opened or opened.pop() != PAIRS[sign]):
            return f"{sign!r} closes no bracket"
    return f"{opened[-1]!r} is not closed" if opened else ""
