"""Which warnings say that input is in no row."""

import pytest

from tidemark.local_state.run_warnings import LEAVES_OUT, RunWarning, leaves_out


@pytest.mark.parametrize("subject", ["", "s3://landing/{}/late.json", "two\nlines"])
@pytest.mark.parametrize("warning", RunWarning)
def test_a_warning_is_known_by_its_message_whatever_its_subject(warning, subject):
    assert leaves_out(warning.message.format(subject)) == (warning in LEAVES_OUT)
