"""Creates a venv for packages with other pins: python -m tools.own_venv FOLDER FILE.

FILE is a requirements file with hashes. ministack, checkov and clients of AWS do not agree on one
botocore, nor does any of them with ours.
"""

import os
import subprocess
import sys

from tidemark.local_state.sparks.uv_settings import pip_settings, uv_settings


def main() -> int:
    """Create the named venv again; return 0, or the exit code of the failed command."""
    folder, requirements = sys.argv[1:]
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)  # noqa: S603
    python = f"{folder}/bin/python"
    pinned = ("--quiet", "--require-hashes", "--no-deps", "-r", requirements)
    os.environ.update(uv_settings(pip_settings()))
    by_uv = subprocess.run(["uv", "pip", "install", "--python", python, *pinned])  # noqa: S603, S607
    if by_uv.returncode == 0:
        return 0
    print("uv failed: installing them with pip, which takes longer")  # noqa: T201
    by_pip = subprocess.run([python, "-m", "pip", "install", "--no-compile", *pinned])  # noqa: S603
    return by_pip.returncode


if __name__ == "__main__":
    sys.exit(main())
