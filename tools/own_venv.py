"""Creates a venv for packages with other pins: python -m tools.own_venv FOLDER FILE [PINS].

FILE is a requirements file with hashes, and PINS another one, whose versions replace those of FILE.
ministack, checkov and clients of AWS do not agree on one botocore, nor does any of them with ours.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from tidemark.local_state.sparks.uv_settings import pip_settings, uv_settings

ENTRY = re.compile(r"^([\w.-]+).*\n(?:[ \t].*\n)*", re.MULTILINE)  # a package, then its hashes


def main() -> int:
    """Create the named venv again; return 0, or the exit code of the failed command."""
    folder, *files = sys.argv[1:]
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)  # noqa: S603
    python, requirements = f"{folder}/bin/python", Path(folder, "requirements.txt")
    requirements.write_text(with_pins(*map(Path, files)), encoding="utf-8")
    pinned = ("--quiet", "--require-hashes", "--no-deps", "-r", str(requirements))
    os.environ.update(uv_settings(pip_settings()))
    by_uv = subprocess.run(["uv", "pip", "install", "--python", python, *pinned])  # noqa: S603, S607
    if by_uv.returncode == 0:
        return 0
    print("uv failed: installing them with pip, which takes longer")  # noqa: T201
    by_pip = subprocess.run([python, "-m", "pip", "install", "--no-compile", *pinned])  # noqa: S603
    return by_pip.returncode


def with_pins(file: Path, *others: Path) -> str:
    """Return the packages of a requirements file, in the versions of others that have them."""
    texts = [path.read_text(encoding="utf-8") for path in (file, *others)]
    pins = {entry[1]: entry[0] for text in texts[1:] for entry in ENTRY.finditer(text)}
    return ENTRY.sub(lambda entry: pins.get(entry[1], entry[0]), texts[0])


if __name__ == "__main__":
    sys.exit(main())
