"""A version of Glue whose PySpark has no environment of its own, and is not this Python's."""

from __future__ import annotations

import pytest

from tidemark.errors import UsageError
from tidemark.local_state.sparks.installed import requirements_of


def test_a_pyspark_without_an_environment_is_named_with_its_remedy():
    with pytest.raises(UsageError, match=r"3\.5\.6 runs in .* has [34]\..*pip install pyspark==3"):
        requirements_of("3.5.6")
