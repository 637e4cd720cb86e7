"""The nodes of a pipeline so far: free names, and jobs that can be waited for."""

from collections.abc import Mapping

import constructs

from tidemark.constructs.crawlers.crawler import Crawler
from tidemark.constructs.jobs.action_options import ActionOptions
from tidemark.constructs.jobs.glue_job import GlueJob
from tidemark.constructs.jobs.job_checks import check_name
from tidemark.constructs.jobs.job_props import Argument
from tidemark.constructs.jobs.streaming_job import StreamingJob
from tidemark.constructs.monitoring.alerts import check_names
from tidemark.constructs.pipeline.triggers import START
from tidemark.constructs.predicates import After, Predicate, predicate_of
from tidemark.errors import JobDefinitionError


def construct_id(name: str) -> str:
    """Return the construct id of a job or crawler, which has no dashes."""
    return "".join(word.capitalize() for word in name.split("-"))


class Nodes:
    """The jobs and crawlers of one pipeline.

    Attributes:
        jobs: jobs that the workflow starts, by name.
        crawlers: likewise.
        streaming_jobs: jobs that nothing starts, by name.
        waits: what each node waits for, by name of the node.
    """

    def __init__(self, tree: constructs.Node) -> None:
        """Start empty; `tree` knows which construct ids are taken."""
        self.jobs: dict[str, GlueJob] = {}
        self.crawlers: dict[str, Crawler] = {}
        self.streaming_jobs: dict[str, StreamingJob] = {}
        self.waits: dict[str, Predicate | None] = {}
        self._tree = tree

    def place(
        self,
        of: str,
        name: str,
        after: After,
        passed: Mapping[str, Argument] | None = None,
        started: ActionOptions | None = None,
    ) -> Predicate | None:
        """Return what a node waits for; None: it starts with the workflow.

        Args:
            of: `job` or `crawler`.
            name: name of the node.
            after: what it waits for.
            passed: the arguments of a job.
            started: additions of the trigger.

        Raises:
            JobDefinitionError: its name is taken, or it waits for a node outside the pipeline.
        """
        waits_for = predicate_of(after)
        arguments = [*(passed or {}).items(), *(started.arguments.items() if started else ())]
        self.check_free(of, name)
        waited_for = [ended.job for ended in waits_for.conditions] if waits_for else []
        known: dict[str, GlueJob | Crawler] = {**self.jobs, **self.crawlers}
        for job in waited_for:
            if job not in known.values():
                raise JobDefinitionError(
                    f"{of} '{name}' waits for '{job.name}', which no trigger of this pipeline "
                    f"starts; allowed: {', '.join(known) or 'none yet'}; pass what "
                    "add_job returned, of a job added before this one"
                )
        for key, value in arguments:
            if isinstance(value, GlueJob) and value not in waited_for:
                raise JobDefinitionError(
                    f"job '{name}' takes its argument {key!r} from '{value.name}', but does "
                    "not wait for it; add that job to after="
                )
        return waits_for

    def check_free(self, of: str, name: str) -> None:
        """Raise unless the name of a node and its construct id are free, and there is room for it.

        Raises:
            JobDefinitionError: one of them is taken.
        """
        check_name(of, name)
        id_ = construct_id(name)
        if name in self.jobs | self.crawlers | self.streaming_jobs:
            raise JobDefinitionError(
                f"{of} '{name}' is in the pipeline already; names must be unique; rename one of "
                "the two"
            )
        if of == "job":
            check_names([*self.jobs, *self.streaming_jobs, name])
        taken = (self._tree.try_find_child(child) for child in (id_, f"{id_}Trigger"))
        if id_ == START or any(taken):
            raise JobDefinitionError(
                f"{of} '{name}' would have the construct id '{id_}', which the pipeline uses for "
                "something else; give it another name"
            )
