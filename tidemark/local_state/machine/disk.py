"""Tells a full disk from other trouble, and how much room a folder has."""

import errno
import os
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)
LITTLE = 256 * 1024  # SQLite alone needs some tens of KB before it can change anything


def is_full(error: BaseException) -> bool:
    """Return whether an error says that a disk, or a quota on it, is full."""
    return isinstance(error, OSError) and error.errno in FULL


def has_room(folder: Path) -> bool:
    """Return whether the disk of a folder still takes a small file; True if unknown."""
    try:
        disk = os.statvfs(existing(folder))
    except OSError:
        return True
    # Some file systems do not count inodes.
    has_inodes = disk.f_files == 0 or disk.f_favail > 0
    return disk.f_bavail * disk.f_frsize >= LITTLE and has_inodes


def full_disk_line(folder: Path) -> str:
    """Return one sentence that names the full disk by a folder on it, with its free space."""
    text = f"the disk of {folder} is full"
    try:
        disk = os.statvfs(existing(folder))
    except OSError:
        return text
    free, size = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
    return f"{text}: {render_size(free)} of {render_size(size)} are free"


def render_size(count: int) -> str:
    """Return a number of bytes for people."""
    size = float(count)
    for unit in ("bytes", "KB", "MB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GB"


def existing(path: Path) -> Path:
    """Return a path, or the nearest folder above it that exists."""
    return next((folder for folder in (path, *path.parents) if folder.exists()), path)
