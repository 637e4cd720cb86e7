"""The Chromium that `make test-browser` installs, and the marks of the tests that need it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHROMIUM = Path(__file__).parent / "node_modules" / "@sparticuz" / "chromium"
PICTURES = os.environ.get("TIDEMARK_PICTURES", "")  # a folder, for who wants to look
IN_CHROMIUM = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not CHROMIUM.is_dir(), reason="no Chromium is installed: `make test-browser` does that"
    ),
]
