"""Puts three things into the wheel: the sample, stubs of AWS's modules, and the DynamoDB engine.

`tidemark init --example flights` writes the sample. Editors and type checkers find the stubs, such
as `awsglue-stubs`, and no program can import them: a script that imports `awsglue` outside of a job
fails here as on a machine without Glue. The engine is there if `npm install` has run here; a wheel
with it is for this platform, one without it for all.

Source: https://typing.python.org/en/latest/spec/distributing.html#stub-only-packages
"""

import runpy
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
ENGINES = sorted((ROOT / "node_modules" / "@dynoxide").glob("*/dynoxide*"))
SITES = [ROOT / "tidemark" / room / "site" for room in ("glue_job", "data_quality", "studio")]
sample_files = runpy.run_path(str(ROOT / "tidemark" / "scaffold" / "sample_files.py"))


class BuildWithOthers(build_py):
    """Copies the packages, and what is not one: the sample, the stubs, the engine."""

    def run(self) -> None:
        """Build; an editable install finds the files where they are."""
        super().run()
        if self.editable_mode:
            return
        self._copy_sample(Path(self.build_lib, *sample_files["IN_WHEEL"]))
        self._copy_stubs()
        target = Path(self.build_lib, "tidemark", "local_state", "engine", "bin")
        shutil.rmtree(target, ignore_errors=True)  # of an earlier build
        for engine in ENGINES:
            target.mkdir(exist_ok=True)
            shutil.copy(engine, target / engine.name)

    def _copy_sample(self, target: Path) -> None:
        paths = sample_files["sample_files"](ROOT)
        if sample_files["STACK"] not in paths:
            raise FileNotFoundError(f"the sample is not in {ROOT}: no {sample_files['STACK']}")
        for path in paths:
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, target / path)

    def _copy_stubs(self) -> None:
        """Write each module of AWS as a stub: what it says of types is what runs."""
        for site in SITES:
            for source in sorted(site.rglob("*.py")):
                package, *rest = source.relative_to(site).with_suffix("").parts
                place = Path(self.build_lib, f"{package}-stubs", *(rest or ["__init__"]))
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, place.with_suffix(".pyi"))


class WithEngine(Distribution):
    """Is of one platform if the engine is in it."""

    def has_ext_modules(self) -> bool:
        """Return whether something in it was compiled."""
        return bool(ENGINES)


class WheelOfPlatform(bdist_wheel):
    """Names the platform of the engine, and every Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tag of the wheel's name; nothing in it is compiled for one Python."""
        tag = super().get_tag()
        return ("py3", "none", tag[2]) if ENGINES else tag


setup(cmdclass={"build_py": BuildWithOthers, "bdist_wheel": WheelOfPlatform}, distclass=WithEngine)
