"""Names the rest of a file, apart from the adopted jobs, so that nothing is silent: pure."""

from collections.abc import Mapping

from tidemark.adopt.model import Adoption, Existing, LeftOut, Reason, Resource
from tidemark.adopt.sources.contents import kind_of
from tidemark.adopt.starts.triggers import nodes_of, watched_by
from tidemark.adopt.watching import watchers_of
from tidemark.model.assembly.definitions import CRAWLER

STAYS = "nothing: it is not changed"
NOT_NAMED = "it was not named, and nothing that was named needs it"
CALLS = "its starts are not part of a job; it may start one of the old"
SEE = "see its targets"
NOT_KNOWN = ("a pipeline does not create it", STAYS)
CATALOG = (
    "a pipeline writes existing tables; it creates those that a Dataset has as table=",
    f"{STAYS}; declare it as Table(...) if the app is to create it from now on",
)
REASONS: Mapping[str, tuple[str, str]] = {
    "job": (NOT_NAMED, "adopt it in another call, if it is to move too"),
    "crawler": (NOT_NAMED, "it continues unchanged; a crawler is adopted with the jobs around it"),
    "trigger": ("it starts no job or crawler that moves", "it continues unchanged"),
    "workflow": (NOT_NAMED, "adopt it in another call: --workflow"),
    "connection": ("jobs name it in connections=, and it stays where it is", STAYS),
    **dict.fromkeys(("database", "table", "partition"), CATALOG),
    "securityconfiguration": (
        "the pipeline creates its own",
        "delete it when nothing uses it; or pass it: security=ExistingSecurity(...)",
    ),
    "classifier": ("crawlers name it in CrawlerOptions(classifiers=...)", STAYS),
    "dataqualityruleset": (
        "the rules of a table are declared as DataQualityRuleset",
        f"{STAYS}; declare it if the app is to create it",
    ),
    **dict.fromkeys(("rule", "schedule"), (CALLS, f"{SEE}; disable it if that is an old job")),
    "statemachine": (CALLS, "let it start the new workflow (glue:startWorkflowRun)"),
    "function": (CALLS, "let it start the new workflow (glue:startWorkflowRun), or remove it"),
    "pipe": (CALLS, f"{SEE}; stop it if that is an old job"),
    "environment": (
        "the targets of its DAGs cannot be read here",
        "let those that start an old job start the new workflow",
    ),
    "permissions": (
        "grants of Lake Formation name roles, and the new jobs have others",
        "grant the new roles the same, or keep the old with --keep-roles",
    ),
}

STARTS = {kind for kind, (why, _) in REASONS.items() if why == CALLS and kind != "rule"}


def others_of(existing: Existing, adoption: Adoption) -> tuple[LeftOut, ...]:
    """Return the resources of a file that are neither in the code nor listed otherwise."""
    known = {("workflow", adoption.old_workflow or "")}
    for node in (*(node.old for node in adoption.nodes), *(left.job for left in adoption.left_out)):
        known.add(("crawler" if node.startswith(CRAWLER) else "job", node.removeprefix(CRAWLER)))
    known |= {("trigger", name) for name in (*adoption.start_triggers, *adoption.other_triggers)}
    # Listed with a difference of the whole, or stopped by a step.
    for difference in adoption.differences:
        kind, _, name = difference.of.partition(" ")
        if kind in ("rule", "schedule"):
            known.add((kind, name.rpartition("/")[2] if kind == "schedule" else name))
    own_rules = existing.rules.get(adoption.old_workflow or "", ())
    known |= {("rule", str(rule["Name"])) for rule in own_rules}
    # What waits for the old, or watches it, is named from every kind of source alike.
    needed = watchers_of(existing, adoption)
    needed |= {
        ("trigger", name): reason
        for name, trigger in existing.triggers.items()
        if (reason := _waiting(trigger, adoption))
    }
    left: dict[tuple[str, str], LeftOut] = {}
    for type_, name in dict.fromkeys(existing.resources):
        of = (kind_of(type_), name)
        reason = needed.get(of) if of[0] not in STARTS else None
        left[of] = LeftOut(f"{type_} {name}", *(reason or REASONS.get(of[0], NOT_KNOWN)))
    for (kind, name), reason in needed.items():
        left.setdefault((kind, name), LeftOut(f"{kind} {name}", *reason))
    watching = {of for of in needed if of[0] == "rule"}  # it may be listed for its target too
    return tuple(resource for of, resource in left.items() if of not in known or of in watching)


def _waiting(trigger: Resource, adoption: Adoption) -> Reason | None:
    """Return why a trigger does not fire again, and what to do; None if it does."""
    waits = sorted(set(watched_by(trigger)) & {node.old for node in adoption.nodes})
    why = f"it starts nothing that moves, and it waits for {', '.join(waits)}, which moves"
    do = f"give {', '.join(nodes_of(trigger))} another start, since it does not fire again"
    return (why, do) if waits else None
