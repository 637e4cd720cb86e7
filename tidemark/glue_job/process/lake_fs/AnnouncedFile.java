package dev.tidemark.lake;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** Writes a file of a folder, which others see while it grows, and announces its end. */
public class AnnouncedFile extends FilterOutputStream {
    private final Edge edge;
    private final String uri;
    private boolean isClosed;

    public AnnouncedFile(OutputStream out, Edge edge, String uri) {
        super(out);
        this.edge = edge;
        this.uri = uri;
    }

    public void write(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
    }

    public void close() throws IOException {
        if (isClosed) {
            return;
        }
        isClosed = true;
        String made = null;
        edge.enter();
        try {
            out.close();
            made = "put";
        } finally {
            edge.leave(made, new String[] {uri});
        }
    }
}
