package dev.tidemark.lake;

import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.conf.Configuration;

/**
 * Announces each change of the lake to who records it, one at a time: one connection for each JVM.
 *
 * A line goes out and `go` comes back: `enter` before a change, `leave` with what it was after it,
 * `open` with what is read or what a script looks for, and `list` with a folder that was listed. If no
 * property names a socket, nothing is announced. A thread of its own talks, because an interrupt (of a
 * task that Spark ends) would close the connection of all.
 */
public class Edge {
    /** The Hadoop property with the path of the socket. */
    public static final String EDGE = "tidemark.edge";
    private static final int LONGEST_ANSWER = 64;
    private static Edge last;

    private final String path;
    private final ReentrantLock turn = new ReentrantLock(true);
    private Talker talker;

    private Edge(String path) {
        this.path = path;
    }

    /** Returns the edge that a configuration names, the one of before if it is the same. */
    public static synchronized Edge of(Configuration conf) {
        String path = conf.getTrimmed(EDGE, "");
        path = path.startsWith("${") ? "" : path;  // a variable that has no value
        if (last == null || !last.path.equals(path)) {
            last = new Edge(path);
        }
        return last;
    }

    public boolean isOn() {
        return !path.isEmpty();
    }

    /** Waits until no other change is made; each call is followed by one of leave. */
    public void enter() throws IOException {
        if (path.isEmpty()) {
            return;
        }
        turn.lock();
        try {
            ask("enter\n");
        } catch (IOException error) {
            turn.unlock();
            throw error;
        }
    }

    /**
     * Tells what was changed.
     *
     * @param operation put, copy, delete or rename; null: the change failed
     * @param places URIs of what was changed
     */
    public void leave(String operation, String[] places) throws IOException {
        if (path.isEmpty()) {
            return;
        }
        StringBuffer line = new StringBuffer("leave");
        if (operation != null) {
            line.append('\t').append(operation);
            for (int i = 0; i < places.length; i++) {
                line.append('\t').append(escaped(places[i]));
            }
        }
        try {
            ask(line.append('\n').toString());
        } finally {
            turn.unlock();
        }
    }

    /** Tells that an object is read. */
    public void opened(String place) throws IOException {
        tell("open", place);
    }

    /** Tells that a folder was listed. */
    public void listed(String place) throws IOException {
        tell("list", place);
    }

    /** Tells that an object or a folder is looked for, if the script itself does and not Spark. */
    public void looked(String place) throws IOException {
        if (isOn() && isAskedByScript()) {
            tell("open", place);
        }
    }

    /** Returns whether the calls of this thread come from Python, without Spark in between. */
    private static boolean isAskedByScript() {
        boolean isFromPython = false;
        StackTraceElement[] calls = Thread.currentThread().getStackTrace();
        for (int i = 0; i < calls.length; i++) {
            String name = calls[i].getClassName();
            if (name.startsWith("org.apache.spark.")) {
                return false;
            }
            isFromPython = isFromPython || name.startsWith("py4j.");
        }
        return isFromPython;
    }

    private void tell(String what, String place) throws IOException {
        if (path.isEmpty()) {
            return;
        }
        turn.lock();
        try {
            ask(what + "\t" + escaped(place) + "\n");
        } finally {
            turn.unlock();
        }
    }

    /** Ends the connection when no change is being made; the next change makes another. */
    public void disconnect() {
        turn.lock();
        try {
            if (talker != null) {
                talker.end();
                talker = null;
            }
        } finally {
            turn.unlock();
        }
    }

    /** A key may hold what parts the words of a line. */
    private static String escaped(String place) {
        return place.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
    }

    private void ask(String line) throws IOException {
        String answer;
        try {
            if (talker == null) {
                talker = new Talker(path);
                talker.start();
            }
            answer = talker.ask(line);
        } catch (IOException error) {
            if (talker != null) {
                talker.end();
                talker = null;
            }
            throw new IOException(
                "what records the changes of the lake (the socket " + path + " of the property " + EDGE
                + ") is gone: " + error.getMessage() + "; run the job again, or without that property",
                error);
        }
        if (!answer.equals("go")) {
            throw new IOException(answer);  // it refuses the change, as S3 may
        }
    }

    /**
     * Sends a line and waits for its answer, whatever interrupts the thread that asks.
     *
     * Janino takes `synchronized` from private methods: it makes them static.
     */
    private static class Talker extends Thread {
        private final SocketChannel channel;
        private final InputStream answers;
        private String question;
        private String answer;
        private IOException failure;

        Talker(String path) throws IOException {
            super("tidemark-edge");
            setDaemon(true);
            channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                channel.connect(UnixDomainSocketAddress.of(path));
            } catch (IOException error) {
                channel.close();
                throw error;
            }
            answers = Channels.newInputStream(channel);
        }

        synchronized String ask(String line) throws IOException {
            question = line;
            notifyAll();
            boolean isInterrupted = false;
            while (answer == null && failure == null) {
                try {
                    wait();
                } catch (InterruptedException error) {
                    isInterrupted = true;
                }
            }
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
            if (failure != null) {
                throw failure;
            }
            String found = answer;
            answer = null;
            return found;
        }

        public void run() {
            try {
                String line = next();
                while (line != null) {
                    ByteBuffer bytes = ByteBuffer.wrap(line.getBytes("UTF-8"));
                    while (bytes.hasRemaining()) {
                        channel.write(bytes);
                    }
                    tell(read());
                    line = next();
                }
            } catch (IOException error) {
                fail(error);
            } catch (RuntimeException error) {
                fail(new IOException(error.toString()));
            }
        }

        synchronized String next() {
            while (question == null && failure == null) {
                try {
                    wait();
                } catch (InterruptedException error) {
                    return null;  // nobody interrupts it
                }
            }
            String line = question;
            question = null;
            return line;
        }

        private String read() throws IOException {
            StringBuffer line = new StringBuffer();
            int next = answers.read();
            while (next != '\n') {
                if (next < 0 || line.length() > LONGEST_ANSWER) {
                    throw new IOException(next < 0 ? "it ended the connection" : "its answer has no end");
                }
                line.append((char) next);
                next = answers.read();
            }
            return line.toString();
        }

        synchronized void tell(String line) {
            answer = line;
            notifyAll();
        }

        synchronized void fail(IOException error) {
            failure = error;
            notifyAll();
        }

        void end() {
            fail(new IOException("the connection was ended here"));
            try {
                channel.close();
            } catch (IOException error) {
                // It is gone.
            }
        }
    }
}
