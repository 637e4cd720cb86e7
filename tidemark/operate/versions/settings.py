"""Looks for the settings of Spark with which a new version makes least else than the old one."""

from collections.abc import Callable, Sequence

from tidemark.operate.versions.causes import OLD_SETTINGS


def find_settings(
    left_with: Callable[[Sequence[str]], int], differing: int, known: Sequence[str] = OLD_SETTINGS
) -> tuple[str, ...]:
    """Return the settings with which least differs, as few as are found; none if none helps.

    Args:
        left_with: runs the jobs with settings, and returns how much differs then.
        differing: how much differs without any.
        known: the settings, the one that explains most first.
    """
    left = {known[0]: left_with(known[:1])}
    if left[known[0]] == 0:
        return (known[0],)
    least = min(left[known[0]], left_with(known))
    if least >= differing:
        return ()
    for one in known:
        if one not in left:
            left[one] = left_with([one])
        if left[one] <= least:
            return (one,)
    helpful = tuple(one for one in known if left[one] < differing)
    if 1 < len(helpful) < len(known) and left_with(helpful) <= least:
        return helpful
    return tuple(known)
