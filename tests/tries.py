"""How often a property is tried on random examples."""

from hypothesis import settings

AT_NIGHT = "random"  # the profile of `make test-nightly`


def tries(at_night: int) -> int:
    """Return how many examples a property is tried on: two fifths of them on every change."""
    return at_night if settings.get_current_profile_name() == AT_NIGHT else at_night * 2 // 5
