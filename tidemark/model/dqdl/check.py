"""What Glue would refuse of a ruleset that is created: its grammar, its rules, its columns."""

from collections.abc import Collection

from tidemark.errors import UnsupportedError, UsageError
from tidemark.model.dqdl.parser import parse
from tidemark.model.dqdl.rule_types import checked
from tidemark.model.dqdl.rules import Rule, Ruleset, leaves

# Rules whose parameters are not columns of the table.
NO_COLUMNS = (
    "AggregateMatch",
    "ColumnCount",
    "ColumnNamesMatchPattern",
    "CustomSql",
    "DatasetMatch",
    "RowCount",
    "RowCountMatch",
    "SchemaMatch",
)


def find_problem(text: str, columns: Collection[str] | None = None) -> str:
    """Return what is wrong with DQDL; empty if it is right, as far as known here.

    What Glue has and this machine does not run is not judged.
    Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl-rule-types.html

    >>> find_problem("Rules = [RowCount > 0]"), find_problem('Rules = [IsUnique "x"]', ["id"])
    ('', 'the table has no column x')

    Args:
        text: the ruleset.
        columns: the columns and partition keys of its table; None: not known.
    """
    try:
        ruleset = parse(text)
        checked(Ruleset((), ruleset.analyzers))
    except UnsupportedError:
        return ""
    except UsageError as error:
        return str(error)
    if not (ruleset.rules or ruleset.analyzers):
        return "the list of rules is empty"
    problems = (_of_rule(rule, columns) for rule in leaves(ruleset.rules))
    return next(filter(None, problems), "")


def _of_rule(rule: Rule, columns: Collection[str] | None) -> str:
    try:
        checked(Ruleset((rule,), ()))
    except UnsupportedError:
        return ""
    except UsageError as error:
        return str(error)
    if columns is None:
        return ""
    known = {column.lower() for column in columns}
    missing = (name for name in _columns_of(rule) if name.lower() not in known)
    return next((f"the table has no column {name}" for name in missing), "")


def _columns_of(rule: Rule) -> list[str]:
    """Return the columns that a rule names; of a nested one the outer column."""
    if rule.kind in NO_COLUMNS:
        return []
    named = rule.parameters
    if rule.kind == "ReferentialIntegrity":  # the second parameter names another table
        named = tuple(part.strip() for part in rule.parameters[0].split(","))
    return [name.strip("`").partition(".")[0] for name in named]
