"""Opens files that may be compressed, by their suffix."""

import bz2
import gzip
import io
from pathlib import Path
from typing import IO, cast

# Suffixes for which Hadoop has another codec.
OTHER_CODECS = (".deflate", ".lz4", ".lzo", ".snappy", ".zst", ".zstd", ".xz", ".lzma")
CHUNK = 1 << 16
# The end of a bzip2 stream: 48 bits, a checksum of 32 bits, and up to 7 bits to fill a byte.
_END_OF_BZ2, _CHECKSUM_BITS, _MAGIC_BITS, _MAX_BYTES = 0x177245385090, 32, 48, 11


def open_file(path: str) -> IO[bytes]:
    """Open a file for reading, decompressed by its suffix.

    Raises OSError for bytes after the last stream of a compressed file that are not a stream.
    """
    if path.endswith(".gz"):
        return cast(IO[bytes], gzip.open(path, "rb"))
    if path.endswith(".bz2"):
        return cast(IO[bytes], io.BufferedReader(Bz2Streams(path)))
    return open(path, "rb")  # noqa: PTH123 (of many files)


def ends_as_bz2(path: Path) -> bool:
    """Return whether the last bytes of a file are the end of a stream of bzip2."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _MAX_BYTES))
        bits = int.from_bytes(file.read(_MAX_BYTES), "big") >> _CHECKSUM_BITS
    return any(bits >> fill & ((1 << _MAGIC_BITS) - 1) == _END_OF_BZ2 for fill in range(8))


class Bz2Streams(io.RawIOBase):
    """The content of all streams of a bzip2 file; `bz2.open` ignores bytes that are no stream."""

    def __init__(self, path: str) -> None:
        """Start at the first stream of a file."""
        self._file = Path(path).open("rb")  # noqa: SIM115 (see `close`)
        self._stream = bz2.BZ2Decompressor()
        self._taken = 0

    def tell(self) -> int:
        """Return how many bytes have been read."""
        return self._taken

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override] # as io calls it
        """Read into a buffer, and return the number of bytes; 0 at the end of the last stream."""
        content = b""
        while not content:
            raw = b""
            if self._stream.eof:
                raw = self._stream.unused_data or self._file.read(CHUNK)
                if not raw:
                    return 0
                self._stream = bz2.BZ2Decompressor()
            elif self._stream.needs_input and not (raw := self._file.read(CHUNK)):
                raise EOFError("the compressed file ends early")
            content = self._stream.decompress(raw, len(buffer))
        buffer[: len(content)] = content
        self._taken += len(content)
        return len(content)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()
