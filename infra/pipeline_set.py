"""Many pipelines: each in a stack of its own, so that none moves when another grows."""

from pathlib import Path

import aws_cdk as cdk

from infra.config import StageConfig
from infra.errors import JobDefinitionError
from infra.governance import apply_to_all
from infra.job_checks import check_name
from infra.pipeline import Pipeline
from infra.storage_stack import StorageStack


class PipelineSet:
    """Makes a stack per pipeline, `tidemark-<stage>-<name>`.

    Adding a job touches its own stack. A workflow has at most 100 jobs and triggers. A job makes
    five resources, up to five alarms, and a policy for every 25 datasets above forty: 45 jobs fit
    into the 500 resources of a stack unless they are that wide; synthesis refuses a stack
    with more, and a template of more than 1,000,000 bytes, which many tags make.

    Attributes:
        pipelines: what was added, by name.
    """

    def __init__(
        self,
        app: cdk.App,
        *,
        stage: StageConfig,
        storage: StorageStack,
        root: Path | str,
        env: cdk.Environment,
    ) -> None:
        """Keep what the pipelines share.

        Args:
            app: the app.
            stage: of all pipelines.
            storage: watermarks, key and data.
            root: folder of the project.
            env: account and region.
        """
        self.pipelines: dict[str, Pipeline] = {}
        self._app = app
        self._stage = stage
        self._storage = storage
        self._root = root
        self._env = env

    def add(self, name: str) -> Pipeline:
        """Return a new, empty pipeline in a stack of its own.

        Args:
            name: Glue workflow name in kebab case; a part of the stack's name.

        Raises:
            JobDefinitionError: the name is not in kebab case, or another stack has it.
        """
        check_name("pipeline", name)
        stack_name = f"tidemark-{self._stage.name}-{name}"
        if self._app.node.try_find_child(stack_name):
            raise JobDefinitionError(
                f"pipeline '{name}' would have the stack '{stack_name}', which the app has; give "
                "it another name"
            )
        stack = cdk.Stack(
            self._app,
            stack_name,
            env=self._env,
            description=f"Tidemark {self._stage.name}: the pipeline {name}",
        )
        apply_to_all(stack, self._stage)
        pipeline = Pipeline(
            stack,
            "".join(word.capitalize() for word in name.split("-")),
            name=name,
            root=self._root,
            stage=self._stage,
            watermarks=self._storage.watermarks,
            key=self._storage.key,
        )
        self.pipelines[name] = pipeline
        return pipeline
