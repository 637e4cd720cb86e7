package dev.tidemark.lake;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.InvalidPathException;

/** The folder of a bucket in the lake, and the files of its keys: none is outside of the lake. */
public class Bucket {
    public static final String LAKE = "tidemark.lake";

    public final URI uri;
    public final File folder;
    /** The folder of the home, with the lake and what is not in it yet. */
    public final File home;
    private final File lake;

    public Bucket(URI name, Configuration conf) throws IOException {
        String authority = name.getAuthority();
        if (authority == null || !authority.matches("[A-Za-z0-9_-][A-Za-z0-9._-]*")) {
            throw new InvalidPathException(name.toString(), "it names no bucket; write s3://bucket/key");
        }
        String given = conf.get(LAKE);
        if (given == null || given.startsWith("${")) {  // an executor has it without Spark's settings
            given = System.getProperty(LAKE);
        }
        if (given == null) {
            throw new IOException("the property " + LAKE + " is not set: only a local run has a lake");
        }
        uri = URI.create(name.getScheme() + "://" + authority);
        home = new File(given).getAbsoluteFile().getParentFile();
        lake = new File(given).getCanonicalFile();
        folder = new File(lake, authority);
    }

    /** Returns the file of a path, inside an existing bucket; key is its path as a URI has it. */
    public File locate(String key, String path) throws IOException {
        if (!folder.isDirectory()) {
            throw new NoSuchBucketException(uri, lake);
        }
        if (key.equals("/..") || key.startsWith("/../")) {
            throw new InvalidPathException(path, "it leads out of its bucket");
        }
        File file = key.length() > 1 ? new File(folder, key) : folder;
        // The canonical name of a dangling link is its own, but a write would follow it.
        if (Files.isSymbolicLink(file.toPath()) && !file.exists()) {
            throw new InvalidPathException(path, "a symbolic link there leads nowhere; delete it: " + file);
        }
        File real = file.getCanonicalFile();
        if (!real.toPath().startsWith(lake.toPath())) {
            throw new InvalidPathException(
                path,
                "a symbolic link leads out of the lake, to " + real + "; copy the files into the lake");
        }
        return file;
    }

    /** What S3 answers for a bucket that does not exist. */
    public static class NoSuchBucketException extends IOException {
        public NoSuchBucketException(URI uri, File lake) {
            super(
                "The specified bucket does not exist (Service: Amazon S3; Status Code: 404; Error Code: "
                + "NoSuchBucket): " + uri + " has no folder in the local lake " + lake
                + "; create it with `tidemark bucket " + uri.getAuthority() + "`");
        }
    }
}
