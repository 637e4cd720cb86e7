"""Checks the graph at synthesis, through the construct tree's own validation."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from weakref import WeakSet

import aws_cdk as cdk
import jsii
from constructs import Construct, IConstruct

from tidemark.checks.graph.glue_refusals import problems_of_resources
from tidemark.checks.graph.model import Problem
from tidemark.checks.graph.rules import RULES, problems
from tidemark.checks.graph.template import read_graph
from tidemark.checks.state.losses import Loss
from tidemark.checks.state.project import contract_losses
from tidemark.constructs.overrides import problems_of_overrides
from tidemark.constructs.security.network_check import problems_of_networks
from tidemark.model.advice import advice_of
from tidemark.model.assembly.resources import Templates

ADVICE = {**RULES, **advice_of("resources")}
TOO_LARGE = "template-too-large"
NARROWED = "contract-narrowed"
MAX_BYTES = 1_000_000  # of a template, CloudFormation's limit
_CHECKED: WeakSet[IConstruct] = WeakSet()


def check_graph_at_synth(scope: Construct) -> None:
    """Fail synthesis of the app that owns `scope` on findings of `RULES`; done once.

    A finding shows the construct path and the remedy, and can be acknowledged:
    `Validations.of(scope).acknowledge(Acknowledgment(id="tidemark::<rule>", reason="..."))`.
    """
    root = scope.node.root
    if root not in _CHECKED:
        _CHECKED.add(root)
        cdk.Validations.of(root).add_plugins(GraphChecks(root))


@jsii.implements(cdk.IPolicyValidationPlugin)
class GraphChecks:
    """A validation plugin of the CDK: checks all templates of one account and region together."""

    def __init__(self, root: IConstruct) -> None:
        """Check the app that owns `root`."""
        self._root = root

    @property
    def name(self) -> str:
        """Return the prefix of each rule."""
        return "tidemark"

    @property
    def version(self) -> str:
        """Return the version of the rules."""
        return "1"

    @property
    def rule_ids(self) -> list[str]:
        """Return the rules, without the name of the plugin."""
        return list(ADVICE)

    def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
        """Return the problems of the synthesized templates."""
        paths: dict[tuple[str | None, ...], list[str]] = defaultdict(list)
        for stack in context.stack_templates:
            path, place = stack.template_path, (stack.account_id, stack.region)
            # Where the account is unknown, every `Stage`, a folder, counts as a different account.
            paths[place if all(place) else (*place, str(Path(path).parent))].append(path)
        violations = []
        is_good = True
        outdir = self._root.outdir if isinstance(self._root, cdk.Stage) else ""
        losses = contract_losses(Path.cwd(), Path(outdir)) if outdir else []
        for together in paths.values():
            path_of = {Path(path).name.removesuffix(".template.json"): path for path in together}
            templates = {
                name: json.loads(Path(path).read_text(encoding="utf-8"))
                for name, path in path_of.items()
            }
            shown = [
                *problems(read_graph(templates)),
                *problems_of_resources(templates),
                *problems_of_networks(templates),
                *problems_of_overrides(self._root, path_of, templates),
                *_too_large(path_of, templates),
                *_narrowed(losses, templates),
            ]
            losses = []  # of the app, so told once
            for problem in shown:
                is_good = is_good and not problem.is_error
                stack_name, _, id_ = problem.at.partition("/")
                resource = cdk.PolicyViolatingResource(
                    locations=[], resource_logical_id=id_, template_path=path_of[stack_name]
                )
                violation = cdk.PolicyViolation(
                    rule_name=problem.rule,
                    description=problem.text,
                    fix=f"{problem.fix} ({ADVICE[problem.rule].id})",
                    severity="error" if problem.is_error else "warning",
                    violating_resources=[resource],
                )
                violations.append(violation)
        return cdk.PolicyValidationPluginReport(success=is_good, violations=violations)


def _too_large(path_of: Mapping[str, str], templates: Templates) -> Iterator[Problem]:
    """Yield the templates that CloudFormation refuses for their size."""
    # Source:
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
    for name, path in path_of.items():
        size = Path(path).stat().st_size
        if size > MAX_BYTES:
            yield Problem(
                TOO_LARGE,
                f"{name}/{next(iter(templates[name]['Resources']))}",
                f"the template of '{name}' has {size:,} bytes; CloudFormation takes {MAX_BYTES:,}",
                'set "@aws-cdk/core:suppressTemplateIndentation" to true in the context of '
                "cdk.json, declare fewer tags, or split the pipeline in two",
            )


def _narrowed(losses: Iterable[Loss], templates: Templates) -> Iterator[Problem]:
    """Yield the contracts that a reader of the files that exist would not get any more."""
    resources = ((name, template.get("Resources", {})) for name, template in templates.items())
    place = next((f"{name}/{id_}" for name, ids in resources for id_ in ids), "")
    for loss in losses:
        fix = f"{loss.remedy}; then `tidemark state write`"
        yield Problem(NARROWED, place, f"{loss.subject}: {loss.lost}", fix)
