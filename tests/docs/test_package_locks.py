"""The lock files of npm: a hash for each package, and no address of a registry."""

import json
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
LOCKS = (PROJECT / "package-lock.json", PROJECT / "tests/browser/package-lock.json")


def packages(lock):
    entries = json.loads(lock.read_text())["packages"]
    return {name.removeprefix("node_modules/"): entry for name, entry in entries.items() if name}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.parent.name)
def test_every_package_has_a_hash_and_no_address(lock):
    entries = packages(lock)

    assert entries
    assert [name for name, entry in entries.items() if "sha512-" not in entry["integrity"]] == []
    assert [name for name, entry in entries.items() if "resolved" in entry] == []


def test_a_platform_without_a_hash_is_one_that_the_security_page_does_not_name():
    wanted = json.loads((PROJECT / "package.json").read_text())["optionalDependencies"]
    (row,) = (
        line
        for line in (PROJECT / "SECURITY.md").read_text().splitlines()
        if "| the DynamoDB engine |" in line
    )
    hashed = {name for name in wanted if name in packages(PROJECT / "package-lock.json")}

    assert hashed == {name for name in wanted if f"for {name.partition('/')[2]};" in row}
