"""The pipeline `template-project` and the lake that it works on."""

from pathlib import Path

import aws_cdk as cdk
from constructs import Construct
from tidemark.constructs import BookmarkOption, Dataset, Lake, Pipeline, StageConfig


class TemplateProjectStack(cdk.Stack):
    """Creates the workflow `template-project` with its jobs, and a lake that stays without it."""

    def __init__(
        self, scope: Construct, id_: str, *, stage: StageConfig, root: Path, env: cdk.Environment
    ) -> None:
        super().__init__(scope, id_, env=env, termination_protection=stage.termination_protection)
        lake = Lake(self, "Lake", stage=stage)
        self.pipeline = Pipeline(
            self,
            "Pipeline",
            name="template-project",
            root=root,
            stage=stage,
            watermarks=lake.watermarks,
            key=lake.key,
        )
        orders = Dataset(lake.landing, "orders/", delivered=True)
        raw_orders = Dataset(lake.raw, "orders/", published=True)
        self.pipeline.add_job(
            "ingest-orders",
            script="glue_jobs/ingest_orders.py",
            bookmark=BookmarkOption.ENABLE,
            reads=[orders],
            writes=[raw_orders],
            arguments={"source_path": orders, "target_path": raw_orders},
        )
        # tidemark new-job inserts above this line
        cdk.CfnOutput(self, "LandingBucketName", value=lake.landing.bucket_name)
        cdk.CfnOutput(self, "WorkflowName", value=self.pipeline.workflow.ref)
