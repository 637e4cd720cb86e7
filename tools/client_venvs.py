"""Makes the venv of one client of AWS, for `make test-clients`: python -m tools.client_venvs NAME.

Each is a folder of .venv-clients with what tests/clients/requirements/NAME.txt pins: clients do not
agree on one botocore, nor does any of them with ours.
"""

import os
import subprocess
import sys
from pathlib import Path

from tools.set_up import pip_settings, uv_settings

VENVS = Path(".venv-clients")
REQUIREMENTS = Path("tests", "clients", "requirements")


def main() -> int:
    """Make the venv that the command line names anew; return 0, or the code of what failed."""
    name = sys.argv[1]
    folder, requirements = VENVS / name, REQUIREMENTS / f"{name}.txt"
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)  # noqa: S603
    python = str(folder / "bin" / "python")
    pinned = ("--quiet", "--require-hashes", "--no-deps", "-r", str(requirements))
    os.environ.update(uv_settings(pip_settings()))
    by_uv = subprocess.run(["uv", "pip", "install", "--python", python, *pinned])  # noqa: S603, S607
    if by_uv.returncode == 0:
        return 0
    print("uv failed: installing them with pip, which takes longer")  # noqa: T201
    by_pip = subprocess.run([python, "-m", "pip", "install", "--no-compile", *pinned])  # noqa: S603
    return by_pip.returncode


if __name__ == "__main__":
    sys.exit(main())
