package dev.tidemark.catalog;

/** Answers requests about the Data Catalog: the process of the job, by Py4J. */
public interface Metastore {
    /**
     * @param secret that the process gave to this JVM
     * @param request a JSON object with `operation` and its arguments
     * @return a JSON object with `answer`, or with `error`, a string
     */
    String ask(String secret, String request);
}
