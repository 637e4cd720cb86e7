"""EvaluateDataQuality: rules in DQDL on a frame.

Differs from AWS: nothing is published.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-transforms-EvaluateDataQuality.html
"""

from collections.abc import Mapping
from typing import Any

from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection
from awsglue.transforms.transform import GlueTransform
from tidemark.data_quality.evaluate import Evaluation, evaluate
from tidemark.data_quality.history import History
from tidemark.data_quality.options import read_options
from tidemark.errors import UsageError

__all__ = ["EvaluateDataQuality"]


class EvaluateDataQuality(GlueTransform):
    """Evaluates which rules hold, and for which rows."""

    def __call__(
        self,
        frame: DynamicFrame,
        ruleset: str,
        publishing_options: Mapping[str, Any] | None = None,
        additional_options: Mapping[str, Any] | None = None,
        additional_data_sources: Mapping[str, DynamicFrame] | None = None,
    ) -> DynamicFrame:
        """Return a row per rule: Rule, Outcome, FailureReason, EvaluatedMetrics, EvaluatedRule.

        Args:
            frame: the rows.
            ruleset: rules in DQDL.
            publishing_options: what AWS publishes; nothing is published here.
            additional_options: such as ``compositeRuleEvaluation.method``.
            additional_data_sources: other frames by the aliases that rules use.

        Raises:
            UsageError: the ruleset or an option is wrong.
            UnsupportedError: a rule does not run here.
        """
        options = (publishing_options, additional_options)
        evaluation = _evaluated(frame, ruleset, options, additional_data_sources)
        return DynamicFrame.fromDF(evaluation.rule_outcomes(), frame.glue_ctx, self.name())

    def process_rows(
        self,
        frame: DynamicFrame,
        ruleset: str,
        publishing_options: Mapping[str, Any] | None = None,
        additional_options: Mapping[str, Any] | None = None,
        additional_data_sources: Mapping[str, DynamicFrame] | None = None,
    ) -> DynamicFrameCollection:
        """Return ruleOutcomes as `apply` does, rowLevelOutcomes and originalData.

        rowLevelOutcomes are the rows with DataQualityRulesPass, DataQualityRulesFail,
        DataQualityRulesSkip and DataQualityEvaluationResult. Arguments and errors are those of
        `__call__`.
        """
        options = (publishing_options, additional_options)
        evaluation = _evaluated(frame, ruleset, options, additional_data_sources)
        context = frame.glue_ctx
        by_rule, by_row = evaluation.rule_outcomes(), evaluation.row_outcomes()
        outcomes = {"ruleOutcomes": by_rule, "rowLevelOutcomes": by_row}
        frames = {key: DynamicFrame.fromDF(rows, context, key) for key, rows in outcomes.items()}
        return DynamicFrameCollection({**frames, "originalData": frame}, context)


def _evaluated(
    frame: DynamicFrame,
    ruleset: str,
    options: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None],
    others: Mapping[str, DynamicFrame] | None,
) -> Evaluation:
    for name, value in {"frame": frame, **(others or {})}.items():
        if not isinstance(value, DynamicFrame):
            raise UsageError(
                f"EvaluateDataQuality got {type(value).__name__} as {name}; allowed: a "
                "DynamicFrame, as from DynamicFrame.fromDF of a DataFrame"
            )
    data = {alias: frame.toDF() for alias, frame in (others or {}).items()}
    history = History.of_run(options[0])
    evaluation = evaluate(frame.toDF(), ruleset, data, read_options(*options), history.past)
    history.keep(evaluation.metrics())
    return evaluation
