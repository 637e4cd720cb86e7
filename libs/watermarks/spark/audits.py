"""Checks of what a window makes of a table or a folder, before readers see it.

the rows are written where nobody reads them       a branch, or a folder whose name is hidden
each audit looks at them
all hold: they are published                       else the run fails, and they stay for a look
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from watermarks.errors import AuditFailedError, WatermarkValueError
from watermarks.windows.window import Window

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Audit: TypeAlias = "str | Callable[[DataFrame], object]"
"""A condition that every row fulfils, a query of wrong rows, rules in DQDL, or a function."""

NEW_STATE = "new_state"
_RULES = re.compile(r"(\s|#[^\n]*\n)*(Rules|Analyzers|DefaultRules)\s*=\s*\[", re.IGNORECASE)
_QUERY = re.compile(r"\s*(SELECT|WITH)\b", re.IGNORECASE)
_SHOWN = 3
# AWS asks for a context, and would publish the results under it.
_CONTEXT = {
    "dataQualityEvaluationContext": "audit",
    "enableDataQualityCloudWatchMetrics": False,
    "enableDataQualityResultsPublishing": False,
}


def audits_of(audit: Audit | Sequence[Audit] | None) -> list[Audit]:
    """Return audits as a list.

    Raises:
        WatermarkValueError: one is neither a string nor a function, or an empty string.
    """
    audits = [] if audit is None else [audit] if isinstance(audit, str) else audit
    audits = [audits] if callable(audits) else list(audits)
    for each in audits:
        if not (each.strip() if isinstance(each, str) else callable(each)):
            raise WatermarkValueError(
                f"an audit is {each!r}: give a condition on a row such as 'amount >= 0', a query "
                f"of wrong rows from {NEW_STATE}, rules in DQDL, or a function of a frame"
            )
    return audits


def check_audits(frame: DataFrame, audits: Sequence[Audit], window: Window, place: str) -> None:
    """Raise unless all audits hold for the rows of a new state, which a place keeps.

    Raises:
        AuditFailedError: one does not hold, or cannot be carried out.
    """
    for audit in audits:
        name = audit.strip() if isinstance(audit, str) else getattr(audit, "__name__", repr(audit))
        try:
            problem = _problem(frame, audit)
        except (Exception, SystemExit) as error:  # a run that ends here would be one that succeeded
            first = str(error).strip().partition("\n")[0]
            problem = f"it cannot be carried out ({type(error).__name__}: {first})"
            raise _failed(name, problem, window, place) from error
        if problem:
            raise _failed(name, problem, window, place)


def changed_by_audit(window: Window, place: str) -> AuditFailedError:
    """Return the error that an audit has changed what it was to look at."""
    return _failed(
        "an audit", "it has written to what it checks, which may only read", window, place
    )


def _failed(name: str, problem: str, window: Window, place: str) -> AuditFailedError:
    return AuditFailedError(
        f"window {window.window_id} of {window.owner} was not published: the audit {name!r} does "
        f"not hold: {problem}. The rows are in {place} until the next attempt; the window stays "
        "open: repair the source or the audit, then start the job again",
        name,
        place,
    )


def _problem(frame: DataFrame, audit: Audit) -> str:
    """Return why an audit does not hold; empty if it does."""
    if not isinstance(audit, str):
        return _answer(audit(frame))
    if _RULES.match(audit):
        return _broken_rules(frame, audit)
    if not _QUERY.match(audit):
        from pyspark.sql import functions

        holds = functions.coalesce(functions.expr(audit), functions.lit(False))
        return _wrong(frame.where(~holds))
    frame.createOrReplaceTempView(NEW_STATE)
    try:
        # In brackets a statement that writes is no valid SQL.
        return _wrong(frame.sparkSession.sql(f"SELECT * FROM (\n{audit}\n)"))  # noqa: S608
    finally:
        frame.sparkSession.catalog.dropTempView(NEW_STATE)


def _answer(answer: Any) -> str:
    """Return what is wrong by the answer of a function: None and True say that nothing is."""
    if answer is None:
        return ""
    if type(answer).__name__ in ("bool", "bool_"):  # that of numpy too
        return "" if answer else "it returned False"
    if isinstance(answer, str):
        return answer
    if hasattr(answer, "limit") and hasattr(answer, "toJSON"):
        return _wrong(answer)
    raise WatermarkValueError(
        f"it returned {type(answer).__name__}; allowed: None, a boolean, a reason, rows"
    )


def _wrong(rows: DataFrame) -> str:
    shown: list[str] = rows.limit(_SHOWN).toJSON().collect()
    return f"{rows.count()} rows are wrong, such as {', '.join(shown)}" if shown else ""


def _broken_rules(frame: DataFrame, ruleset: str) -> str:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame
    from awsgluedq.transforms import EvaluateDataQuality

    context = GlueContext(frame.sparkSession.sparkContext)
    checked = DynamicFrame.fromDF(frame, context, NEW_STATE)
    outcomes = EvaluateDataQuality().process_rows(
        frame=checked, ruleset=ruleset, publishing_options=_CONTEXT
    )
    by_rule = outcomes["ruleOutcomes"].toDF().collect()
    if not by_rule:
        return "it has no rule"
    broken = [row for row in by_rule if row["Outcome"] != "Passed"]
    if not broken:
        return ""
    told = "; ".join(f"{row['Rule']}: {row['FailureReason'] or row['Outcome']}" for row in broken)
    by_row = outcomes["rowLevelOutcomes"].toDF()
    failed = by_row.where("DataQualityEvaluationResult = 'Failed'").select(*frame.columns)
    return f"{told}; {_wrong(failed) or 'no single row is wrong'}"
