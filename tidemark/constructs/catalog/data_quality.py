"""Rulesets of Glue Data Quality.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.errors import JobDefinitionError
from tidemark.model.checked import TOKEN, checked, wrong
from tidemark.model.dqdl.check import find_problem

MAX_CHARACTERS = 65_536  # of a ruleset
MAX_DESCRIPTION = 2_048
NAME = re.compile(r"[A-Za-z0-9_-]{1,255}")
RULESET = "a data quality ruleset"  # at the start of an error


@checked
@dataclass(frozen=True)
class DataQualityRuleset:
    """Rules in DQDL about the rows of a table, stored in Glue.

    Glue checks them when it creates the ruleset; synthesis checks grammar, rule types, operands,
    and with a `Table` the names of columns.

    Attributes:
        rules: such as `Rules = [RowCount > 0, IsComplete "id"]`.
        name: its name in Glue; by default `<database>_<table>`.
        description: the purpose of the rules.

    Raises:
        JobDefinitionError: Glue would refuse the rules, as far as known here.

    Example:
        >>> DataQualityRuleset('Rules = [RowCount > 0, IsComplete "id"]').rules
        'Rules = [RowCount > 0, IsComplete "id"]'
    """

    rules: str
    name: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        if len(self.rules) > MAX_CHARACTERS:
            raise JobDefinitionError(
                f"a data quality ruleset has {len(self.rules):,} characters; allowed: up to "
                f"{MAX_CHARACTERS:,}; split rules="
            )
        self.check()
        if self.name and not NAME.fullmatch(self.name):
            allowed = "'', or letters, digits, _ and -"
            raise wrong(RULESET, "the name", self.name, allowed, "correct name=")
        if len(self.description) > MAX_DESCRIPTION:
            allowed, remedy = "a string of up to 2,048 characters", "correct description="
            raise wrong(RULESET, "the description", self.description, allowed, remedy)

    def check(self, columns: Sequence[str] | None = None) -> None:
        """Raise if Glue would refuse the rules, for a table with these columns if they are known.

        Raises:
            JobDefinitionError: it would.
        """
        # What only the deployment knows is not judged.
        problem = "" if TOKEN in self.rules else find_problem(self.rules, columns)
        if problem:
            raise JobDefinitionError(
                f"a data quality ruleset has the rules {self.rules!r}: {problem}; allowed: "
                "DQDL with rules, as in 'Rules = [RowCount > 0, IsComplete \"id\"]'; correct rules="
            )
