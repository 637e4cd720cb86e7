package dev.tidemark.jdbc;

import dev.tidemark.lake.Edge;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkEnv$;

/** What the settings of the run of now say. */
public class Settings {
    /** The setting of runs that are proved. */
    public static final String PROVED = "spark.hadoop.tidemark.proved";
    /** The setting with the folder that gets a copy of a database after each commit. */
    public static final String COPIES = "spark.hadoop.tidemark.copies";

    private Settings() {
    }

    /** Returns whether the run is proved. */
    public static boolean areOfProof() {
        return !get(PROVED).isEmpty();
    }

    /** Returns who records changes, if anybody does. */
    public static Edge edge() {
        Configuration conf = new Configuration(false);
        conf.set(Edge.EDGE, get("spark.hadoop." + Edge.EDGE));
        return Edge.of(conf);
    }

    /** Returns the value of a setting of Spark, or an empty string. */
    public static String get(String name) {
        SparkEnv env = SparkEnv$.MODULE$.get();
        return env == null ? "" : env.conf().get(name, "");
    }
}
