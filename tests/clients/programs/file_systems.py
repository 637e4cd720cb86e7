"""Objects by s3fs, and by pandas and pyarrow on it. Prints JSON."""

import json
import sys

import pandas as pd
import s3fs

BUCKET = sys.argv[1]


def main() -> None:
    """Write, list, read, move and delete."""
    fs = s3fs.S3FileSystem()
    found: dict[str, object] = {}
    with fs.open(f"{BUCKET}/a/é b.txt", "wb") as file:
        file.write(b"0123456789")
    with fs.open(f"{BUCKET}/a/big", "wb", block_size=5 * 2**20) as file:
        for _ in range(12):
            file.write(b"x" * 2**20)
    fs.pipe_file(f"{BUCKET}/b/c/d", b"d")
    found["listed"] = sorted(fs.find(BUCKET))
    found["folders"] = sorted(fs.ls(BUCKET))
    found["globbed"] = fs.glob(f"{BUCKET}/*/*.txt")
    found["range"] = fs.cat_file(f"{BUCKET}/a/é b.txt", start=2, end=5).decode()
    found["tail"] = fs.tail(f"{BUCKET}/a/é b.txt", 3).decode()
    found["size"] = fs.info(f"{BUCKET}/a/big")["size"]
    found["type"] = fs.info(f"{BUCKET}/b")["type"]
    fs.setxattr(f"{BUCKET}/b/c/d", copy_kwargs={"ContentType": "text/d"}, who="me")
    found["metadata"] = fs.getxattr(f"{BUCKET}/b/c/d", "who")
    fs.put_tags(f"{BUCKET}/b/c/d", {"k": "v"})
    found["tags"] = fs.get_tags(f"{BUCKET}/b/c/d")
    fs.copy(f"{BUCKET}/a/big", f"{BUCKET}/copied")
    fs.mv(f"{BUCKET}/b/c/d", f"{BUCKET}/moved")
    with fs.open(f"{BUCKET}/moved", "ab") as file:
        file.write(b"+")
    found["moved"] = fs.cat_file(f"{BUCKET}/moved").decode()
    fs.merge(f"{BUCKET}/merged", [f"{BUCKET}/a/big", f"{BUCKET}/copied"])
    found["merged"] = fs.du(f"{BUCKET}/merged")
    with fs.open(f"{BUCKET}/exclusive", "xb") as file:
        file.write(b"once")
    try:
        with fs.open(f"{BUCKET}/exclusive", "xb") as file:
            file.write(b"twice")
    except FileExistsError as error:
        found["exclusive"] = type(error).__name__
    found["signed"] = fs.sign(f"{BUCKET}/moved").partition("?")[0].rpartition("/")[2]
    pd.DataFrame({"a": [1]}).to_parquet(f"s3://{BUCKET}/pandas.parquet")
    found["pandas"] = int(pd.read_parquet(f"s3://{BUCKET}/pandas.parquet")["a"].sum())
    try:
        fs.cat_file(f"{BUCKET}/none")
    except FileNotFoundError as error:
        found["none"] = type(error).__name__
    fs.rm(f"{BUCKET}/a", recursive=True)
    fs.invalidate_cache()
    found["left"] = sorted(fs.find(BUCKET))
    fs.mkdir(f"{BUCKET}-two")
    fs.rm(f"{BUCKET}-two", recursive=True)
    found["bucket is gone"] = not fs.exists(f"{BUCKET}-two")
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
