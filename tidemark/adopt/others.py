"""Names the rest of a file, apart from the adopted jobs, so that nothing is silent: pure."""

from tidemark.adopt.model import Adoption, Existing, LeftOut, Reason, Resource
from tidemark.adopt.reasons import REASONS
from tidemark.adopt.sources.contents import kind_of
from tidemark.adopt.starts.triggers import nodes_of, watched_by
from tidemark.adopt.watching import watchers_of
from tidemark.model.assembly.definitions import CRAWLER

NOT_KNOWN = ("a pipeline does not create it", "nothing: it is not changed")

# What may start an old job from outside.
STARTS = {"schedule", "statemachine", "function", "pipe"}


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
        left[of] = LeftOut(f"{type_} {name}", *(reason or REASONS["other"].get(of[0], NOT_KNOWN)))
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
