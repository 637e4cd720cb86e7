"""The watermark library for submitted scripts, shipped in a zip as a Pipeline ships it."""

import os
import re
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from tidemark.local_state.home import Home

KEY = "libs/watermarks.zip"
IMPORT = re.compile(r"^\s*(?:from|import)\s+watermarks\b", re.MULTILINE)


def imports_library(script: Path) -> bool:
    """Return whether a script imports the watermark library."""
    return IMPORT.search(script.read_text(encoding="utf-8", errors="replace")) is not None


def ship_library(home: Home, bucket: str) -> None:
    """Put the installed watermark library into a bucket of the lake."""
    import watermarks  # slow: most scripts need none of it

    package = Path(watermarks.__file__).parent
    content = BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for file in sorted(package.rglob("*.py")):
            archive.write(file, file.relative_to(package.parent).as_posix())
    place = home.lake / bucket / KEY
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = place.with_name(f"{place.name}.{os.getpid()}")  # another submission may read it
    unfinished.write_bytes(content.getvalue())
    unfinished.replace(place)
