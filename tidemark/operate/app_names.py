"""What an app calls its jobs and workflows, and where each stage is deployed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tidemark.errors import UsageError
from tidemark.model.assembly.cloud_assembly import Assembly, Stack, deployable
from tidemark.model.assembly.resources import stated_name
from tidemark.model.assembly.template import resolve_stacks
from tidemark.model.messages import known, listed

JOB, TRIGGER, WORKFLOW = "AWS::Glue::Job", "AWS::Glue::Trigger", "AWS::Glue::Workflow"
STAGE_TAG = "tidemark:stage"
UNKNOWN = "unknown-"  # begins the account or region that an app leaves to the command line


@dataclass(frozen=True)
class Names:
    """The jobs and workflows that a command knows.

    Attributes:
        jobs: in the order of the templates.
        workflows: likewise.
        stack_of: the stack of a job or workflow; empty where that is not known.
        account: that the stage is deployed into; None if the app does not say it.
        region: likewise.
        stage: whose they are; None on this machine.
    """

    jobs: tuple[str, ...]
    workflows: tuple[str, ...]
    stack_of: Mapping[tuple[str, str], str] = field(default_factory=dict)
    account: str | None = None
    region: str | None = None
    stage: str | None = None

    def job(self, name: str) -> str:
        """Return the name of a job."""
        return known("job", name, self.jobs)

    def workflow(self, name: str | None) -> str:
        """Return the name of a workflow; of the only one, if none is given."""
        if name is not None:
            return known("workflow", name, self.workflows)
        if len(self.workflows) != 1:
            raise UsageError(
                f"name the workflow with --workflow; allowed: {listed(self.workflows)}"
                if self.workflows
                else "there is no workflow; `tidemark run` in the folder of an app with a Pipeline "
                "defines one here, and `cdk deploy` on AWS; `tidemark init NAME` writes such an app"
            )
        return self.workflows[0]


def names_of_stage(assembly: Assembly, stage: str, region: str) -> Names:
    """Return the names in the assembly of a stage."""
    with deployable():
        resources = list(_resources(assembly, region))
    stages = {resource.stage for resource in resources if resource.stage}
    if stages and stage not in stages:
        raise UsageError(
            f"the assembly is of the stage {' and '.join(sorted(stages))}, not {stage!r}; leave "
            "out --app, or name the assembly of this stage"
        )
    resources = [resource for resource in resources if resource.stage in (None, stage)]
    jobs = tuple(resource.name for resource in resources if resource.kind == JOB)
    if not jobs:
        raise UsageError("the app has no Glue job with a fixed name; there is nothing to ask")
    account, place = _environment(resource.stack for resource in resources)
    workflows = tuple(resource.name for resource in resources if resource.kind == WORKFLOW)
    stack_of = {(resource.kind, resource.name): resource.stack.name for resource in resources}
    return Names(jobs, workflows, stack_of, account, place, stage)


@dataclass(frozen=True)
class _Resource:
    """A job or a workflow of a template; ``stage`` comes from its tag."""

    kind: str
    name: str
    stack: Stack
    stage: str | None


def _resources(assembly: Assembly, region: str) -> Iterator[_Resource]:
    # Those without a name are left out: CloudFormation makes theirs up.
    for stack, scope in resolve_stacks(assembly, region, may_guess=True):
        for resource in stack.template.get("Resources", {}).values():
            if resource["Type"] not in (JOB, WORKFLOW):
                continue
            if (stated := stated_name(resource)) is not None:
                name = str(scope.resolve(stated))
                tags = resource.get("Properties", {}).get("Tags", {})
                value = tags.get(STAGE_TAG) if isinstance(tags, dict) else None
                stage = value if isinstance(value, str) else None
                yield _Resource(resource["Type"], name, stack, stage)


def _environment(stacks: Iterable[Stack]) -> tuple[str | None, str | None]:
    """Return the account and the region of stacks, as far as the app sets them."""
    environments = {stack.environment.removeprefix("aws://") for stack in stacks}
    environments.discard("")
    if len(environments) > 1:
        raise UsageError(
            f"the jobs of the app are in several places, {', '.join(sorted(environments))}; name "
            "the assembly of one of them with --app, such as --app cdk.out/assembly-Europe"
        )
    account, _, region = next(iter(environments), "").partition("/")
    return _stated(account), _stated(region)


def _stated(text: str) -> str | None:
    return text if text and not text.startswith(UNKNOWN) else None
