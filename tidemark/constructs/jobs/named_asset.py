"""Files of the project that a deployment uploads under their own names."""

from pathlib import Path

import aws_cdk as cdk
from constructs import Construct

from tidemark.errors import JobDefinitionError


def named_asset(scope: Construct, id_: str, file: Path) -> tuple[str, str]:
    """Return bucket and key of a file of the project, which a deployment uploads.

    The CDK names an asset by its hash, but modules and files are used by their own names: here the
    name follows the hash, `s3://<bucket of the bootstrap>/<hash>/<name>`.

    Args:
        scope: the construct that owns the asset.
        id_: its construct id.
        file: the file.

    Raises:
        JobDefinitionError: the app gave its stack a synthesizer, which jsii does not return.
    """
    stack = cdk.Stack.of(scope)
    staging = cdk.AssetStaging(scope, id_, source_path=str(file))
    staged = staging.relative_staged_path(stack)
    # The synthesizer appends the end of the staged file's name.
    name = file.name.removesuffix(Path(staged).suffix)
    try:
        location = stack.synthesizer.add_file_asset(
            packaging=cdk.FileAssetPackaging.FILE,
            source_hash=f"{staging.asset_hash}/{name}",
            file_name=staged,
            display_name=f"{scope.node.path}/{id_}",
        )
    except RuntimeError as error:  # jsii does not return the synthesizer of the stack
        raise JobDefinitionError(
            f"the stack '{stack.node.path}' has its own synthesizer, and with it {str(file)!r} "
            "cannot be uploaded under its name; allowed: the default synthesizer; put the file "
            "into S3 and name its s3:// address"
        ) from error
    return location.bucket_name, location.object_key
