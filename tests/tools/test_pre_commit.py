"""The hooks of pre-commit are checks of `make check`, and need no network."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
import yaml

from tools.semantics_doc import PROJECT

(LOCAL,) = yaml.safe_load((PROJECT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))[
    "repos"
]
WRONG = '"""It is a module."""\n\nimport os\nTEXT = "the run goes on by itself"\n'


@pytest.mark.parametrize("hook", LOCAL["hooks"], ids=lambda hook: hook["id"])
def test_a_hook_passes_good_files_and_fails_on_a_wrong_one(hook: dict[str, Any], tmp_path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG, encoding="utf-8")
    command = hook["entry"].split()

    good, bad = (
        subprocess.run([*command, file], cwd=PROJECT, capture_output=True, text=True)
        for file in ("app.py", str(wrong))
    )

    assert (LOCAL["repo"], hook["language"]) == ("local", "system")
    assert good.returncode == 0, good.stdout + good.stderr
    assert bad.returncode == 1, bad.stdout + bad.stderr
