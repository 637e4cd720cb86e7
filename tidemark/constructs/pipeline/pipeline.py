"""A Glue workflow and its jobs: one call per job."""

from tidemark.constructs.pipeline.crawlers import Crawlers
from tidemark.constructs.pipeline.shell_jobs import ShellJobs
from tidemark.constructs.pipeline.spark_jobs import SparkJobs
from tidemark.constructs.pipeline.streaming_jobs import StreamingJobs


class Pipeline(SparkJobs, ShellJobs, StreamingJobs, Crawlers):
    """Creates a workflow, the zip of shared packages, and a job with its trigger per `add_job`.

    Jobs without `after` start together; the others start when what they wait for has happened. A
    job can only name jobs added before it, so the graph has no cycle. The triggers are created one
    after the other, since Glue refuses concurrent changes of one workflow, and the start trigger
    last, so that no run begins in half a graph. Synthesis checks the graph by the rules of
    `tidemark.checks.graph.rules`.

    The start trigger is ON_DEMAND: `StartWorkflowRun` starts it. A schedule is a resource of
    EventBridge Scheduler that calls StartWorkflowRun, so turning one on or off changes no trigger.
    Only where events start the pipeline is the trigger of the type EVENT: docs/start-a-pipeline.md.

    Attributes:
        workflow: the Glue workflow.
        security: how the jobs encrypt, and where their logs go.
        jobs: the jobs that the workflow starts, by name.
        crawlers: the crawlers that it starts, by name.
        streaming_jobs: the jobs that nothing starts, by name.
        monitoring: alerts, alarms and dashboard.
    """
