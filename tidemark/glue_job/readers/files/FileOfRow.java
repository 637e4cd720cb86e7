package dev.tidemark.files;

import org.apache.spark.rdd.InputFileBlockHolder;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.api.java.UDF0;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/**
 * Names the file of a row; empty if no file of Spark's readers is read.
 *
 * Spark's own input_file_name() may vary, and is refused in sources of MERGE, UPDATE and DELETE.
 */
public final class FileOfRow implements UDF0 {
    /** Returns the name as a column of any rows. */
    public static Column column() {
        return functions.udf(new FileOfRow(), DataTypes.StringType).apply(new Column[0]);
    }

    public Object call() {
        return InputFileBlockHolder.getInputFilePath().toString();
    }
}
