"""Two runs share nothing outside of their copies, unless that is asked for."""

from __future__ import annotations

import pytest

from tidemark.errors import UsageError
from tidemark.operate.versions.shared import refuse_shared


def test_a_script_that_writes_to_a_database_is_refused():
    with pytest.raises(UsageError, match=r"orders:2 writes to a database.*--with-databases"):
        refuse_shared({"orders": (2,), "items": ()}, {})


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"])
def test_an_endpoint_of_a_service_is_refused(name):
    with pytest.raises(UsageError, match=f"{name} is set"):
        refuse_shared({}, {name: "http://127.0.0.1:8000"})


def test_scripts_that_write_to_the_lake_are_taken():
    refuse_shared({"orders": ()}, {"AWS_REGION": "eu-west-1"})
