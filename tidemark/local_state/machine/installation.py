"""The folder for files that an installation creates once: the class archive, the lake's jar."""

import sys
from pathlib import Path

FOLDER = Path(sys.prefix) / "share" / "tidemark"
