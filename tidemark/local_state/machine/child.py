"""What a child process asks of Linux before it becomes the program that it is for.

It ends with its parent, so that nothing outlives a killed `tidemark run`; and one that listens asks
its parent first, which `held_listen` answers. It imports little: each command starts children.

Source: https://docs.kernel.org/userspace-api/seccomp_filter.html#userspace-notification
"""

import ctypes
import os
import signal
import struct
import sys

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
ASKS = "--ask-before-listen"
NOTIFIER = 9  # the number of the file by which the kernel asks for this process
NUMBERS = {"x86_64": (317, 50), "aarch64": (277, 201)}  # the system calls seccomp and listen
SET_FILTER, NEW_LISTENER = 1, 8
# Codes of BPF: loads of 4 and 2 bytes, a jump if equal, a return; and what seccomp may return.
LOAD, LOAD_HALF, IF_EQUAL, RETURN = 0x20, 0x28, 0x15, 0x06
ALLOW, ASK = 0x7FFF0000, 0x7FC00000


def die_with_parent(parent_pid: int) -> None:
    """Ask the kernel to kill this process when its parent ends; kept across ``exec``.

    Only Linux offers it. Elsewhere the next command finds and ends the leftovers.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have ended before the request took effect.
    if os.getppid() != parent_pid:
        sys.exit(1)


def ask_before_listen() -> None:
    """Let this process ask before it listens, where the kernel can; kept across ``exec``."""
    calls = NUMBERS.get(os.uname().machine) if sys.platform == "linux" else None
    if calls is None:
        return
    seccomp, listen = calls
    steps = (
        (LOAD, 0, 0, 0),  # the number of the system call
        (IF_EQUAL, 0, 1, listen),
        (RETURN, 0, 0, ASK),
        (RETURN, 0, 0, ALLOW),
    )
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    code = program(steps)  # kept while its address is used
    notifier = libc.syscall(seccomp, SET_FILTER, NEW_LISTENER, packed(code))
    if notifier >= 0:
        os.dup2(notifier, NOTIFIER, inheritable=True)


def program(steps: "tuple[tuple[int, int, int, int], ...]") -> "ctypes.Array[ctypes.c_char]":
    """Return steps of BPF: their code, two jumps, and a number."""
    text = b"".join(struct.pack("HBBI", *step) for step in steps)
    return ctypes.create_string_buffer(text, len(text))


def packed(code: "ctypes.Array[ctypes.c_char]") -> bytes:
    """Return what the kernel takes for a program, which must live until then."""
    return struct.pack("HxxxxxxP", len(code) // struct.calcsize("HBBI"), ctypes.addressof(code))


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    if sys.argv[2] == ASKS:
        ask_before_listen()
        del sys.argv[2]
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 (the caller's own command)
