"""The one comparison of rows: of targets in homes, by Spark or here, for proofs and versions."""
