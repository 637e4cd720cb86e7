package dev.tidemark.catalog;

/** Answers the questions of this JVM; a separate class, because most runs never ask. */
public class Connected {
    private static volatile Connected connected;

    private final Metastore metastore;
    private final String secret;

    private Connected(Metastore metastore, String secret) {
        this.metastore = metastore;
        this.secret = secret;
    }

    /** Sets the process that answers, and a secret; each run that borrows this JVM sets its own. */
    public static void connect(Metastore answers, String secret) {
        connected = new Connected(answers, secret);
    }

    static String ask(String request) {
        Connected now = connected;
        return now.metastore.ask(now.secret, request);
    }
}
