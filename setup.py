"""Puts the sample into the wheel, from where `tidemark init --from flights` writes it."""

import runpy
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
sample_files = runpy.run_path(str(ROOT / "tidemark" / "scaffold" / "sample_files.py"))


class BuildWithSample(build_py):
    """Copies the packages, and beside the templates the files of the sample."""

    def run(self) -> None:
        """Build; an editable install finds the files where they are."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, *sample_files["IN_WHEEL"])
        paths = sample_files["sample_files"](ROOT)
        if sample_files["STACK"] not in paths:
            raise FileNotFoundError(f"the sample is not in {ROOT}: no {sample_files['STACK']}")
        for path in paths:
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, target / path)


setup(cmdclass={"build_py": BuildWithSample})
