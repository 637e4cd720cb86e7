"""Puts the assets of an assembly into the lake, as ``cdk deploy`` uploads them."""

import os
import shutil
import zipfile
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.local_state.home import Home
from tidemark.model.assembly.cloud_assembly import FileAsset

ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the CDK command line stamps every member so


def publish(asset: FileAsset, bucket: str, home: Home) -> Path:
    """Copy or zip one asset into its bucket folder, as ``cdk deploy`` uploads it.

    Keys are hashes of the content, so files that are already there are left alone.
    """
    target = home.local_path(f"s3://{bucket}/{asset.key}")
    if target.exists():
        return target
    if not asset.source.exists():
        raise UsageError(f"the assembly names {asset.source}, which does not exist; synth again")
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.unfinished")
    if asset.is_zipped:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(p for p in asset.source.rglob("*") if p.is_file()):
                member = zipfile.ZipInfo(path.relative_to(asset.source).as_posix(), ZIP_TIME)
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, path.read_bytes())
    else:
        shutil.copyfile(asset.source, unfinished)
    unfinished.replace(target)
    return target
