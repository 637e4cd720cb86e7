"""Names of others in the commands of a plan are one word of bash, and no control of a terminal."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.adopt.plan.carrying import in_shell
from tidemark.adopt.sources.nested_templates import _file_of

NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=20)


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_bash_reads_each_name_as_it_is(names):
    command = f"printf '%s\\0' {' '.join(map(in_shell, names))}"
    environment = {"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}

    read = subprocess.run(["bash", "-c", command], capture_output=True, env=environment).stdout

    assert read.decode().split("\0")[:-1] == names
    assert command.isprintable()


@pytest.mark.parametrize("name", ["z" * 5000, "a/" * 3000])
def test_a_file_whose_name_is_too_long_is_not_at_hand(tmp_path, name):
    nested = {"Type": "AWS::Serverless::Application", "Properties": {"Location": name}}

    assert _file_of(nested, tmp_path) is None
