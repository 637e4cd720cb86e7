"""Monitoring of a pipeline for its operators: alerts, alarms, dashboard, budget."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_kms as kms
from aws_cdk.aws_budgets import CfnBudget
from constructs import Construct

from tidemark.constructs.jobs.contracts import metrics_of
from tidemark.constructs.jobs.incremental_job import IncrementalJob
from tidemark.constructs.jobs.job_props import BookmarkOption
from tidemark.constructs.monitoring.alarms import Alarms
from tidemark.constructs.monitoring.alerting import Alerting
from tidemark.constructs.monitoring.alerts import Alerts, Late
from tidemark.constructs.monitoring.dashboard import DashboardContent, dashboard_body
from tidemark.constructs.pipeline.nodes import Nodes
from tidemark.constructs.predicates import last_jobs
from tidemark.model.assembly.resources import PIPELINE_TAG
from tidemark.model.stage.config import StageConfig


class Monitoring(Construct):
    """Creates alerts, alarms, a dashboard and, if the stage asks for one, a budget.

    Attributes:
        alerts: the topic and its rules about runs.
        alarms: the alarms, which notify the same topic.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        pipeline_name: str,
        stage: StageConfig,
        key: kms.IKey,
        alerting: Alerting,
        nodes: Nodes,
        starts: Sequence[str],
    ) -> None:
        """Declare them.

        Args:
            scope: the construct that owns them.
            id_: construct id.
            pipeline_name: the workflow.
            stage: limits, and the recipient of alerts.
            key: encrypts the messages of the topic.
            alerting: further recipients.
            nodes: jobs and crawlers; they may grow until synthesis.
            starts: what starts runs, in readable form.
        """
        super().__init__(scope, id_)
        self._stage = stage
        self._starts = starts
        self._nodes = nodes
        self._pipeline = pipeline_name
        self.alerts = Alerts(
            self,
            "Alerts",
            pipeline_name=pipeline_name,
            key=key,
            email=stage.alert_email,
            alerting=alerting,
            jobs=lambda: [*nodes.jobs, *nodes.streaming_jobs],
            crawlers=lambda: list(nodes.crawlers),
            last_jobs=lambda: last_jobs(nodes.waits),
        )
        self.alarms = Alarms(
            self, "Alarms", pipeline_name=pipeline_name, topic_arns=self.alerts.topic_arns
        )
        if stage.freshness_hours:
            self.alarms.on_stall(self.alerts.succeeded_rule, stage.freshness_hours)
        cloudwatch.CfnDashboard(
            self,
            "Dashboard",
            dashboard_name=stage.name_of(pipeline_name),
            dashboard_body=cdk.Lazy.string(Late(self._dashboard_body)),
        )
        if stage.monthly_budget_usd and stage.alert_email:
            self._budget(stage.monthly_budget_usd, stage.alert_email)

    def watch(self, job: IncrementalJob, max_watermark_age_hours: int | None) -> None:
        """Create the alarms of one job; the last only if its watermark is a time."""
        stage = self._stage
        if max_watermark_age_hours:
            self.alarms.on_old_watermark(job.name, max_watermark_age_hours)
        for metric in metrics_of(job.reads, job.writes) if job.has_watermarks else ():
            self.alarms.on_rows_aside(job.name, metric)
        if job.has_watermarks and stage.freshness_hours:
            self.alarms.on_stale_watermark(job.name, stage.freshness_hours)
        if job.bookmark is BookmarkOption.ENABLE and stage.metrics:
            self.alarms.on_unusual_bytes(job.name)
            if stage.freshness_hours:
                self.alarms.on_nothing_read(job.name, stage.freshness_hours)
        if stage.metrics and stage.dpu_hours_per_day:
            self.alarms.on_dpu_hours(job.name, job.runtime, stage.dpu_hours_per_day)

    def _dashboard_body(self) -> str:
        """Return the JSON of the dashboard, whose jobs are known at synthesis only."""
        nodes = self._nodes
        shown = DashboardContent(
            pipeline=self._pipeline,
            region=cdk.Stack.of(self).region,
            jobs=[*nodes.jobs, *nodes.streaming_jobs],
            watermark_jobs=[name for name, job in nodes.jobs.items() if job.has_watermarks],
            succeeded_rule=self.alerts.succeeded_rule,
            failed_rule=self.alerts.failed_rule,
            failed_crawl_rule=self.alerts.failed_crawl_rule,
            alarms=self.alarms.arns,
            error_logs=[
                *(job.logs.error for job in ({**nodes.jobs, **nodes.streaming_jobs}).values()),
                *(crawler.log_group for crawler in nodes.crawlers.values()),
            ],
            has_metrics=self._stage.metrics,
            starts=self._starts,
        )
        return dashboard_body(shown)

    def _budget(self, usd: int, email: str) -> None:
        """Mail when the month's cost of resources with the pipeline's tag exceeds a limit."""
        CfnBudget(
            self,
            "Budget",
            budget=CfnBudget.BudgetDataProperty(
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=CfnBudget.SpendProperty(amount=usd, unit="USD"),
                cost_filters={"TagKeyValue": [f"user:{PIPELINE_TAG}${self._pipeline}"]},
            ),
            notifications_with_subscribers=[
                CfnBudget.NotificationWithSubscribersProperty(
                    notification=CfnBudget.NotificationProperty(
                        comparison_operator="GREATER_THAN",
                        notification_type=kind,
                        threshold=100,
                        threshold_type="PERCENTAGE",
                    ),
                    subscribers=[
                        CfnBudget.SubscriberProperty(address=email, subscription_type="EMAIL")
                    ],
                )
                for kind in ("ACTUAL", "FORECASTED")
            ],
        )
