"""The options of EvaluateDataQuality.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html,
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-transforms-EvaluateDataQuality.html
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.errors import UnsupportedError, UsageError
from tidemark.local_state.run_warnings import RunWarning, note

_FLAGS = (True, False, "true", "false", "True", "False")
_PREFIX = "resultsS3Prefix"
# Where results go on AWS: nothing is published here. None allows any string.
_PUBLISHING: dict[str, tuple[Any, ...] | None] = {
    "dataQualityEvaluationContext": None,
    "enableDataQualityCloudWatchMetrics": _FLAGS,
    "enableDataQualityResultsPublishing": _FLAGS,
    _PREFIX: None,
}
_METHOD, _LABEL = "compositeRuleEvaluation.method", "rowLevelConfiguration.filteredRowLabel"
_LABELS, _CACHING = "rowLevelConfiguration.ruleWithLabels", "performanceTuning.caching"
_ADDITIONAL: dict[str, tuple[Any, ...] | None] = {
    _METHOD: ("COLUMN", "ROW"),
    _LABEL: ("PASSED", "SKIPPED"),
    _LABELS: ("DISABLED", "ENABLED"),
    _CACHING: ("CACHE_NOTHING", "CACHE_INPUT"),
    # They concern published results.
    "observations.scope": ("ALL", "NONE"),
    "dataQualityResultsPublishing.strategy": ("BEST_EFFORT", "STRICT"),
}


@dataclass(frozen=True)
class Options:
    """What changes results, and how they are computed.

    Attributes:
        by_row: composite rules are evaluated for each row, not for each part over all rows.
        skips: rows that a where clause leaves out are skipped, else they pass.
        caches: Spark keeps the rows, so that what made them runs once.
    """

    by_row: bool = False
    skips: bool = False
    caches: bool = False


def read_options(
    publishing: Mapping[str, Any] | None, additional: Mapping[str, Any] | None
) -> Options:
    """Return what options ask for; an option that is not known is a warning of the run."""
    if _check("publishing_options", publishing, _PUBLISHING).get(_PREFIX):
        note(RunWarning.RESULTS_NOT_PUBLISHED, str((publishing or {})[_PREFIX]))
    chosen = _check("additional_options", additional, _ADDITIONAL)
    if chosen.get(_LABELS) == "ENABLED":
        raise UnsupportedError(f"{_LABELS} ENABLED does not run locally: rules have no labels here")
    return Options(
        chosen.get(_METHOD) == "ROW",
        chosen.get(_LABEL) == "SKIPPED",
        chosen.get(_CACHING) == "CACHE_INPUT",
    )


def _check(
    name: str, options: object, known: Mapping[str, tuple[Any, ...] | None]
) -> Mapping[str, Any]:
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise UsageError(f"{name} of EvaluateDataQuality is {options!r}; allowed: a dict")
    for key, value in options.items():
        if key not in known:
            note(RunWarning.OPTION_IGNORED, f"the option {key} of EvaluateDataQuality")
        elif (allowed := known[key]) is not None and value not in allowed:
            raise UsageError(
                f"{name} of EvaluateDataQuality has {key} {value!r}; allowed: "
                f"{', '.join(map(str, allowed[:2]))}"
            )
    return options
