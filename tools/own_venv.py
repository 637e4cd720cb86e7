"""Makes a venv of its own for what pins other versions: python -m tools.own_venv FOLDER FILE.

FILE is a requirements file with hashes. ministack, checkov and clients of AWS do not agree on one
botocore, nor does any of them with ours.
"""

import os
import subprocess
import sys

from tidemark.local_state.sparks.uv_settings import pip_settings, uv_settings


def main() -> int:
    """Make the venv that the command line names anew; return 0, or the code of what failed."""
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
