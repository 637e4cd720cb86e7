"""The file system of s3:// paths in a job's JVM: buckets are folders of the lake, and nothing else.

`LakeFileSystem.java` is compiled into a jar of this installation, once, by the Java compiler that
comes with Spark (Janino).
"""
