"""The file system of s3:// paths in a job's JVM: buckets are folders of the lake, nothing else.

The Java compiler that comes with Spark (Janino) compiles `LakeFileSystem.java` into a jar of this
installation, once.
"""
