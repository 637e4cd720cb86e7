"""Marks of hidden names: what a crash has changed in them for good."""

from collections.abc import Collection, Mapping

from tidemark.local_state.home import Home
from tidemark.operate.prove.baselines import Wanted
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.judge import digest_of
from tidemark.operate.prove.judged import TargetRows
from tidemark.operate.prove.places import hidden_marks


def steady_marks(home: Home, control: Home) -> dict[str, str]:
    """Return the hidden marks that are the same after two equal runs, with their digests."""
    uris = hidden_marks(home)
    left, same = _digests(home, uris), _digests(control, uris)
    return {uri: digest for uri, digest in left.items() if same.get(uri) == digest}


def changed_marks(wanted: Wanted, outcome: Outcome, steady: Mapping[str, str]) -> list[TargetRows]:
    """Return the hidden marks that are others than after runs that go well, as one row each.

    In experiments other than crashes, their order and the files that they name may differ.
    """
    left = _digests(outcome.rows or outcome.home, steady)
    well = _digests(wanted.well.home, steady) if wanted.well else {}
    return [
        TargetRows(uri, 1, 1, lost=1, added=1, same_key=1)
        for uri, digest in left.items()
        if digest not in (steady[uri], well.get(uri))
    ]


def _digests(home: Home, uris: Collection[str]) -> dict[str, str]:
    files = {uri: home.local_path(uri) for uri in uris}
    return {uri: digest_of(file) for uri, file in files.items() if file.is_file()}
