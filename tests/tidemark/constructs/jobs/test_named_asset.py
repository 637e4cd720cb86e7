"""Files that are uploaded under their own names."""

import pytest

from tidemark.constructs.jobs.wheels import named_asset
from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth


def test_the_key_ends_in_the_name_of_the_file_and_follows_its_content(cdk, tmp_path):
    file = tmp_path / "rates.json"
    keys = []
    for text in ("1", "1", "2"):
        file.write_text(text)
        keys.append(named_asset(cdk.Stack(cdk.App(), "stack"), "File", file)[1])

    assert all(key.endswith("/rates.json") for key in keys)
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.filterwarnings("ignore")
def test_a_stack_with_a_synthesizer_of_its_own_says_what_to_do_instead(cdk, tmp_path):
    file = tmp_path / "rates.json"
    file.write_text("1")
    stack = cdk.Stack(cdk.App(), "stack", synthesizer=cdk.DefaultStackSynthesizer(qualifier="own"))

    with pytest.raises(JobDefinitionError, match="s3:// address"):
        named_asset(stack, "File", file)
