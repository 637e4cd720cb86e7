"""Where this installation keeps what it makes once: the class archive and the lake's jar."""

import sys
from pathlib import Path

FOLDER = Path(sys.prefix) / "share" / "tidemark"
