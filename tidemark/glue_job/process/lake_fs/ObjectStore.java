package dev.tidemark.lake;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;

/**
 * Puts, copies and deletes objects in a folder as S3 does: each one whole and by itself.
 *
 * What is written lies in the folder of uploads of the home until one atomic move makes it an object.
 * A folder without objects stays for as long as a directory marker of S3A would.
 */
public class ObjectStore {
    private static final String SEMANTICS = "tidemark.lake.semantics";
    /** Folder of the home; those in it are named after the JVM that writes them. */
    private static final String UPLOADS = "uploads";
    private static final AtomicLong count = new AtomicLong();
    private static final CopyOption[] MOVE = {StandardCopyOption.ATOMIC_MOVE};
    private static final CopyOption[] COPY = {LinkOption.NOFOLLOW_LINKS};

    private final Edge edge;
    private final File uploads;

    public ObjectStore(Edge edge, File home) {
        this.edge = edge;
        long process = ManagementFactory.getRuntimeMXBean().getPid();
        uploads = new File(new File(home, UPLOADS), "jvm-" + process);
    }

    /** Tells whether a configuration asks for S3's semantics. */
    public static boolean wanted(Configuration conf) throws IOException {
        String semantics = conf.getTrimmed(SEMANTICS, "${");
        if (semantics.startsWith("${")) {  // a variable that has no value counts as none
            semantics = System.getProperty(SEMANTICS, "folder");
        }
        if (!semantics.equals("s3") && !semantics.equals("folder")) {
            throw new IOException(
                "the property " + SEMANTICS + " is '" + semantics + "'; allowed: folder, s3; correct it");
        }
        return semantics.equals("s3");
    }

    /** Returns a new place for bytes that are no object yet. */
    public File upload(String name) throws IOException {
        Files.createDirectories(uploads.toPath(), new FileAttribute[0]);
        return new File(uploads, count.incrementAndGet() + "-" + name);
    }

    /** Makes an upload an object, in place of one that is there; modified is S3's LastModified. */
    public void complete(File upload, File object, String uri, long modified) throws IOException {
        upload.setLastModified(modified);
        appear("put", upload, object, new String[] {uri});
    }

    private void copy(File source, File object, String uri, String target) throws IOException {
        File upload = upload("copy");
        Files.copy(source.toPath(), upload.toPath(), COPY);
        appear("copy", upload, object, new String[] {uri, target});
    }

    private void appear(String operation, File upload, File object, String[] places) throws IOException {
        String made = null;
        try {
            edge.enter();
            try {
                Files.createDirectories(object.getParentFile().toPath(), new FileAttribute[0]);
                Files.move(upload.toPath(), object.toPath(), MOVE);
                made = operation;
            } catch (AtomicMoveNotSupportedException error) {
                throw new IOException(
                    object + " is on another disk than the uploads of its home, " + upload.getParent()
                    + ": have the lake on the disk of the home, or run without S3's semantics", error);
            } finally {
                edge.leave(made, places);
            }
        } finally {
            upload.delete();  // what a failure has left
        }
    }

    /**
     * Renames as S3A does: it replaces no object, and no folder that has some.
     *
     * Source: https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-common/filesystem/filesystem.html
     */
    public boolean rename(File from, File to, String uri, String target) throws IOException {
        if (to.toPath().startsWith(from.toPath())) {
            return to.equals(from) && !isFolder(from);
        }
        if (!isFolder(from) && to.isDirectory()) {
            return rename(from, new File(to, from.getName()), uri, target + "/" + from.getName());
        }
        if (to.exists() && (!to.isDirectory() || to.list().length > 0)) {
            return false;
        }
        if (isFolder(from)) {
            renameAll(from, to, uri, target);
        } else {
            copy(from, to, uri, target);
            deleteObject(from, uri, from.getParentFile());
        }
        return true;
    }

    /** Copies each object below a folder to another one and deletes it, in the order of keys. */
    private void renameAll(File from, File to, String uri, String target) throws IOException {
        List keys = keys(from);
        to.mkdirs();  // also if there is nothing to copy
        for (int i = 0; i < keys.size(); i++) {
            String key = (String) keys.get(i);
            copy(new File(from, key), new File(to, key), uri + "/" + key, target + "/" + key);
            deleteObject(new File(from, key), uri + "/" + key, from);
        }
        removeFolders(from);
    }

    /** Deletes an object, or each one below a folder in the order of keys, and the folder. */
    public boolean delete(File file, String uri, boolean recursive) throws IOException {
        if (!file.exists()) {
            return false;
        }
        if (!isFolder(file)) {
            deleteObject(file, uri, file.getParentFile());
            return true;
        }
        if (!recursive && file.list().length > 0) {
            throw new PathIsNotEmptyDirectoryException(uri);
        }
        List keys = keys(file);
        for (int i = 0; i < keys.size(); i++) {
            deleteObject(new File(file, (String) keys.get(i)), uri + "/" + keys.get(i), file);
        }
        removeFolders(file);
        return true;
    }

    /** Deletes an object, and the folders below root that have none then. */
    private void deleteObject(File object, String uri, File root) throws IOException {
        boolean isGone = false;
        edge.enter();
        try {
            Files.delete(object.toPath());
            isGone = true;
            File folder = object.getParentFile();
            while (!folder.equals(root) && folder.delete()) {
                folder = folder.getParentFile();
            }
        } finally {
            edge.leave(isGone ? "delete" : null, new String[] {uri});
        }
    }

    /** Removes a folder with empty ones in it; one where an object has appeared stays. */
    private static void removeFolders(File folder) {
        File[] found = folder.listFiles();
        for (int i = 0; found != null && i < found.length; i++) {
            if (isFolder(found[i])) {
                removeFolders(found[i]);
            }
        }
        folder.delete();
    }

    /** Refuses a key below an object: a folder of this machine cannot have both. */
    public static void checkAbove(File object, File bucket, String uri) throws IOException {
        for (File above = object.getParentFile(); !above.equals(bucket); above = above.getParentFile()) {
            if (above.exists() && !above.isDirectory()) {
                throw new FileAlreadyExistsException(
                    uri + " cannot be created: " + above.getName() + " above it is an object");
            }
        }
    }

    /** Returns the keys of all objects below a folder, in S3's order. */
    public static List keys(File folder) throws IOException {
        List found = new ArrayList();
        addKeys(folder, "", found);
        Collections.sort(found);
        return found;
    }

    private static void addKeys(File folder, String prefix, List found) throws IOException {
        String[] names = folder.list();
        if (names == null) {
            throw new IOException("cannot list " + folder + ": it is not readable");
        }
        for (int i = 0; i < names.length; i++) {
            if (isFolder(new File(folder, names[i]))) {
                addKeys(new File(folder, names[i]), prefix + names[i] + "/", found);
            } else {
                found.add(prefix + names[i]);
            }
        }
    }

    /** A symbolic link is an object: what it names is elsewhere. */
    private static boolean isFolder(File file) {
        return file.isDirectory() && !Files.isSymbolicLink(file.toPath());
    }
}
