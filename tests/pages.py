"""The documents of the project, and their blocks that are marked `<!-- test: NAME -->`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[1]
DOCUMENTS = sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md")])
FENCE = re.compile(
    r"(?:<!-- test: (?P<test>[^>]+) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)```", re.DOTALL
)


class Page:
    """A document, such as docs/catalog.md or README.md."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = (PROJECT / name).read_text(encoding="utf-8")
        self.blocks: dict[str, str] = {}  # marked ones; those of one name are one
        for block in FENCE.finditer(self.text):
            if name := block["test"]:
                self.blocks[name] = self.blocks.get(name, "") + block["text"]

    def run(self, *names: str, **known: Any) -> dict[str, Any]:
        """Run blocks of Python one after the other; return the names that are known then."""
        for name in names:
            exec(compile(self.blocks[name], f"{self.name}: {name}", "exec"), known)  # noqa: S102
        return known
