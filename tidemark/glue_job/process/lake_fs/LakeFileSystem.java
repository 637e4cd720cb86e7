package dev.tidemark.lake;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * Serves a bucket of S3 from the folder of its name in the local lake, and nothing else of this machine.
 *
 * The lake is the folder that the property `tidemark.lake` names. A bucket without a folder does not
 * exist, a path that leads out of the lake is refused, and no bucket is ever created or removed here.
 * By the property `tidemark.lake.semantics` a bucket is a folder (a rename is atomic, and a file grows
 * while others see it) or has objects as S3 has them. Changes are announced at the edge.
 *
 * Written for the compiler that Spark ships (Janino), which has no generics and no lambdas.
 */
public class LakeFileSystem extends FileSystem {
    /** Suffix of the empty objects that EMR and Hadoop put next to folders: S3A and EMRFS list none. */
    private static final String MARKER = "_$folder$";

    private final RawLocalFileSystem local = new RawLocalFileSystem();
    private Bucket bucket;
    private Path workingDirectory;
    private Edge edge;
    /** The objects of S3; null: files of a folder. */
    private ObjectStore objects;

    public void initialize(URI name, Configuration conf) throws IOException {
        super.initialize(name, conf);
        setConf(conf);
        bucket = new Bucket(name, conf);
        workingDirectory = new Path(bucket.uri + "/");
        local.initialize(URI.create("file:///"), conf);
        edge = Edge.of(conf);
        objects = ObjectStore.wanted(conf) ? new ObjectStore(edge, bucket.home) : null;
        locate(workingDirectory);
    }

    /** Returns the file of a path, inside an existing bucket. */
    private File locate(Path path) throws IOException {
        checkPath(path);
        return bucket.locate(makeQualified(path).toUri().getPath(), path.toString());
    }

    private static Path localPath(File file) {
        return new Path(file.toURI());
    }

    private File existing(Path path) throws IOException {
        File file = locate(path);
        if (!file.exists()) {
            throw new FileNotFoundException("No such file or directory: " + makeQualified(path));
        }
        return file;
    }

    private FileStatus status(File file, Path path) {
        long block = getDefaultBlockSize(path);
        boolean isFolder = file.isDirectory();
        long size = isFolder ? 0 : file.length();
        return new FileStatus(size, isFolder, 1, block, file.lastModified(), path);
    }

    public FileStatus getFileStatus(Path path) throws IOException {
        edge.looked(makeQualified(path).toString());
        return status(existing(path), makeQualified(path));
    }

    public FileStatus[] listStatus(Path path) throws IOException {
        Path qualified = makeQualified(path);
        edge.looked(qualified.toString());
        File folder = existing(path);
        if (!folder.isDirectory()) {
            return new FileStatus[] {status(folder, qualified)};
        }
        String[] names = folder.list();
        if (names == null) {
            throw new IOException("cannot list " + qualified + ": " + folder + " is not readable");
        }
        if (objects != null) {
            Arrays.sort(names);  // as S3 lists them
        }
        List found = new ArrayList();
        for (int i = 0; i < names.length; i++) {
            if (!names[i].endsWith(MARKER)) {
                // The constructor of three parts, because a name may hold a colon.
                Path below = new Path(qualified, new Path(null, null, names[i]));
                found.add(status(new File(folder, names[i]), below));
            }
        }
        edge.listed(qualified.toString());
        return (FileStatus[]) found.toArray(new FileStatus[0]);
    }

    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        File file = existing(path);
        if (file.isDirectory()) {
            throw new FileNotFoundException("Can't open " + makeQualified(path) + " because it is a directory");
        }
        edge.opened(makeQualified(path).toString());
        return local.open(localPath(file), bufferSize);
    }

    public FSDataOutputStream create(
        Path path,
        FsPermission permission,
        boolean overwrite,
        int bufferSize,
        short replication,
        long blockSize,
        Progressable progress) throws IOException {
        File file = locate(path);
        if (file.isDirectory() || (file.exists() && !overwrite)) {
            throw new FileAlreadyExistsException(makeQualified(path) + " already exists");
        }
        String name = makeQualified(path).toString();
        if (objects != null) {
            ObjectStore.checkAbove(file, bucket.folder, name);
            return new FSDataOutputStream(new Upload(objects, file, name, bufferSize), statistics);
        }
        FSDataOutputStream out =
            local.create(localPath(file), overwrite, bufferSize, replication, blockSize, progress);
        return edge.isOn() ? new FSDataOutputStream(new AnnouncedFile(out, edge, name), null) : out;
    }

    public FSDataOutputStream append(Path path, int bufferSize, Progressable progress) {
        throw new UnsupportedOperationException("append is not supported by S3: " + path);
    }

    public boolean rename(Path source, Path target) throws IOException {
        File from = existing(source);
        File to = locate(target);
        if (from.equals(bucket.folder)) {
            return false;
        }
        String[] names = {makeQualified(source).toString(), makeQualified(target).toString()};
        if (objects != null) {
            return objects.rename(from, to, names[0], names[1]);
        }
        boolean isRenamed = false;
        edge.enter();
        try {
            isRenamed = local.rename(localPath(from), localPath(to));
        } finally {
            edge.leave(isRenamed ? "rename" : null, names);
        }
        return isRenamed;
    }

    public boolean delete(Path path, boolean recursive) throws IOException {
        File file = locate(path);
        if (!file.equals(bucket.folder)) {
            return deleteFile(file, makeQualified(path).toString(), recursive);
        }
        String[] names = file.list();
        if (names.length > 0 && !recursive) {
            throw new IOException("the bucket " + bucket.uri + " is not empty");
        }
        Arrays.sort(names);
        for (int i = 0; i < names.length; i++) {
            deleteFile(new File(file, names[i]), bucket.uri + "/" + names[i], true);
        }
        return true;
    }

    private boolean deleteFile(File file, String name, boolean recursive) throws IOException {
        if (objects != null) {
            return objects.delete(file, name, recursive);
        }
        boolean isDeleted = false;
        edge.enter();
        try {
            isDeleted = local.delete(localPath(file), recursive);
        } finally {
            edge.leave(isDeleted ? "delete" : null, new String[] {name});
        }
        return isDeleted;
    }

    /** Makes the files of a folder of this machine objects below a path, in the order of keys. */
    public void complete(File folder, Path path, long modified) throws IOException {
        List keys = ObjectStore.keys(folder);
        for (int i = 0; i < keys.size(); i++) {
            String key = (String) keys.get(i);
            if (!key.endsWith(".crc")) {
                // The constructor of three parts, because a name may hold a colon.
                Path object = new Path(path, new Path(null, null, key));
                objects.complete(
                    new File(folder, key), locate(object), makeQualified(object).toString(), modified);
            }
        }
    }

    /** Tells whether this has S3's semantics. */
    public boolean hasObjects() {
        return objects != null;
    }

    /** Returns a new folder for files that are no objects yet. */
    public File upload(String name) throws IOException {
        return objects.upload(name);
    }

    public void close() throws IOException {
        super.close();
        if (edge != null) {
            edge.disconnect();
        }
    }

    public boolean mkdirs(Path path, FsPermission permission) throws IOException {
        return local.mkdirs(localPath(locate(path)));
    }

    public URI getUri() {
        return bucket.uri;
    }

    public String getScheme() {
        return bucket.uri.getScheme();
    }

    public String getCanonicalServiceName() {
        return null;
    }

    public void setWorkingDirectory(Path path) {
        workingDirectory = makeQualified(path);
    }

    public Path getWorkingDirectory() {
        return workingDirectory;
    }

    public Path getHomeDirectory() {
        return new Path(bucket.uri + "/");
    }
}
