package dev.tidemark.catalog;

/** Who answers the questions of this JVM; apart from who asks, as most runs never ask. */
public class Connected {
    private static volatile Metastore metastore;

    /** Names who answers; each run that borrows this JVM names its own process. */
    public static void connect(Metastore answers) {
        metastore = answers;
    }

    static Metastore metastore() {
        return metastore;
    }
}
