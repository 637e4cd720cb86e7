"""S3 over the folders of the lake: an object is the file that Spark sees.

This is own code, not a package: `localbucket` on PyPI also maps buckets to folders, but lacks
DeleteObjects, tags, metadata, conditions and conflicts, walks the bucket again for each page of a
listing, and brings its own HTTP server; emulators such as moto keep objects where Spark
cannot see them.
"""
