"""What the run that goes well takes away from targets that were there before it."""

from collections.abc import Mapping, Sequence

from tidemark.model.messages import plural
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Bench
from tidemark.operate.rows.rows_here import are_small, judged_here
from tidemark.operate.versions.targets import changed_targets, files_of


def taken_away(bench: Bench, run: Baseline, left_out: Mapping[str, Sequence[str]]) -> list[str]:
    """Return how many rows of each target are gone after a run; columns are left out by target.

    Rows whose key is there with other values are no such rows. A target that only Spark reads, or
    that is large, is not looked at.
    """
    before, after = files_of(bench.base.lake), files_of(run.outcome.home.lake)
    gone = []
    for target in changed_targets(before, after):
        was = target.within(bench.base.lake, before)
        is_now = target.within(run.outcome.home.lake, after)
        asked = {
            "format": target.format,
            "sides": [was, is_now],
            "control": was,
            "left_out": left_out.get(target.uri, ()),
        }
        if not was["files"] or target.format == "bytes" or not are_small(asked):
            continue
        try:
            answer = judged_here(asked, {"key": [], "surrogates": []})
        except Exception:  # noqa: BLE001, S112 (only Spark reads it)
            continue
        now = answer["sides"][1] if len(answer["sides"]) > 1 else {}
        lost = now.get("lost", 0) - now.get("same_key", 0)
        if lost > 0:
            gone.append(f"{plural(lost, 'row')} of {now['expected']:,} in {target.uri}")
    return gone
