package dev.tidemark.lake;

import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.Abortable;

/** Writes an object of S3: it is there when the stream is closed, whole, and not before. */
public class Upload extends OutputStream implements Abortable {
    private final ObjectStore store;
    private final File object;
    private final String uri;
    private final File part;
    private final OutputStream out;
    private boolean hasEnded;

    public Upload(ObjectStore store, File object, String uri, int bufferSize) throws IOException {
        this.store = store;
        this.object = object;
        this.uri = uri;
        part = store.upload("put");
        out = new BufferedOutputStream(new FileOutputStream(part), bufferSize);
    }

    public void write(int one) throws IOException {
        out.write(one);
    }

    public void write(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
    }

    public void flush() throws IOException {
        out.flush();
    }

    public void close() throws IOException {
        if (hasEnded) {
            return;
        }
        hasEnded = true;
        try {
            out.close();
        } catch (IOException error) {
            part.delete();
            throw error;
        }
        store.complete(part, object, uri, System.currentTimeMillis());
    }

    public Abortable.AbortableResult abort() {
        boolean wasClosed = hasEnded;
        IOException failure = null;
        hasEnded = true;
        try {
            out.close();
        } catch (IOException error) {
            failure = error;
        }
        part.delete();
        return new Aborted(wasClosed, failure);
    }

    private static class Aborted implements Abortable.AbortableResult {
        private final boolean wasClosed;
        private final IOException failure;

        Aborted(boolean wasClosed, IOException failure) {
            this.wasClosed = wasClosed;
            this.failure = failure;
        }

        public boolean alreadyClosed() {
            return wasClosed;
        }

        public IOException anyCleanupException() {
            return failure;
        }
    }
}
