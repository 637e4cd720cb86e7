"""S3 over the folders of the lake: an object is the very file that Spark sees.

Own code, and no package: `localbucket` on PyPI maps buckets to folders likewise, and lacks
DeleteObjects, tags, metadata, conditions and conflicts, walks the bucket again for each page of a
listing, and brings an HTTP server of its own; emulators such as moto keep objects where Spark
cannot see them.
"""
