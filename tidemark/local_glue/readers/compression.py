"""Opens files that may be compressed, as their suffix says."""

import bz2
import gzip
from pathlib import Path
from typing import IO, cast

# Suffixes that Hadoop has another codec for.
OTHER_CODECS = frozenset({".deflate", ".lz4", ".lzo", ".snappy", ".zst", ".zstd", ".xz", ".lzma"})


def open_file(path: str) -> IO[bytes]:
    """Open a file for reading, through what its suffix says it is compressed with."""
    suffix = Path(path).suffix
    if suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return bz2.open(path, "rb") if suffix == ".bz2" else Path(path).open("rb")
