package dev.tidemark.json;

import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.OutputWriter;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.datasources.text.TextFileFormat;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Map;

/** Spark's writer of lines of text, in files that are called .json: the lines are records. */
public class JsonText extends TextFileFormat {
    public OutputWriterFactory prepareWrite(SparkSession spark, Job job, Map options, StructType schema) {
        return new Named(super.prepareWrite(spark, job, options, schema));
    }

    /** Gives files another extension. */
    public static class Named extends OutputWriterFactory {
        private final OutputWriterFactory lines;

        public Named(OutputWriterFactory lines) {
            this.lines = lines;
        }

        public String getFileExtension(TaskAttemptContext context) {
            return ".json" + lines.getFileExtension(context).substring(".txt".length());
        }

        public OutputWriter newInstance(String path, StructType schema, TaskAttemptContext context) {
            return lines.newInstance(path, schema, context);
        }
    }
}
