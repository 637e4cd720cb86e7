"""The way out for clients that cannot sign with the access key of a port: every key is answered."""

import os
import sys

from tidemark.errors import UsageError, show
from tidemark.local_state.access_key import AccessKey, access_key
from tidemark.local_state.home import Home

VARIABLE = "TIDEMARK_ANY_KEY"
WORDS = {"1": True, "true": True, "": False, "0": False, "false": False}
USERS = "users of this machine" if sys.platform != "linux" else "programs of this user"
WARNING = f"warning: the port answers every access key: all {USERS} can run code as you through it"


def is_any_key(value: str) -> bool:
    """Return whether the environment variable asks for every key to be answered."""
    found = WORDS.get(value.strip().lower())
    if found is None:
        raise UsageError(
            f"{VARIABLE} is {show(value)}; allowed: 1 to answer every access key, or 0; unset it "
            "to answer that of the port only"
        )
    return found


def key_of_port(home: Home) -> AccessKey | None:
    """Return the key that a port asks for; None, and a warning, where it answers every key."""
    if is_any_key(os.environ.get(VARIABLE, "")):
        sys.stderr.write(f"{WARNING} ({VARIABLE})\n")
        return None
    return access_key(home)
