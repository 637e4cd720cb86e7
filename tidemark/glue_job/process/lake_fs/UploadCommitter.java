package dev.tidemark.lake;

import java.io.File;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;

/**
 * Commits as the S3-optimized committer of EMRFS: the files of a task are uploads, and they become
 * objects, one by one and without a rename, when the task is committed.
 *
 * Where EMRFS does not use it (its property is false, a dynamic partition overwrite), it is Hadoop's
 * FileOutputCommitter.
 *
 * Source: https://docs.aws.amazon.com/emr/latest/ReleaseGuide/emr-spark-committer-multipart.html
 */
public class UploadCommitter extends FileOutputCommitter {
    private static final String ENABLED =
        "spark.sql.parquet.fs.optimized.committer.optimization-enabled";
    /** Where Spark writes a dynamic partition overwrite before it renames each partition. */
    private static final String STAGING = ".spark-staging-";

    private final Path output;
    private final long started = System.currentTimeMillis();
    /** Null: Hadoop's committer does all. */
    private File files;
    private LakeFileSystem lake;

    public UploadCommitter(Path output, TaskAttemptContext context) throws IOException {
        super(output, context);
        this.output = output;
        Configuration conf = context.getConfiguration();
        if (output == null || output.getName().startsWith(STAGING) || !conf.getBoolean(ENABLED, true)) {
            return;
        }
        FileSystem system = output.getFileSystem(conf);
        if (system instanceof LakeFileSystem && ((LakeFileSystem) system).hasObjects()) {
            lake = (LakeFileSystem) system;
            files = lake.upload(context.getTaskAttemptID().toString());
        }
    }

    public Path getWorkPath() throws IOException {
        return lake == null ? super.getWorkPath() : new Path(files.toURI());
    }

    public void setupJob(JobContext context) throws IOException {
        if (lake == null) {
            super.setupJob(context);
        }
    }

    public boolean needsTaskCommit(TaskAttemptContext context) throws IOException {
        return lake == null ? super.needsTaskCommit(context) : files.isDirectory();
    }

    public void commitTask(TaskAttemptContext context) throws IOException {
        if (lake == null) {
            super.commitTask(context);
            return;
        }
        // S3 dates an object of several parts by the start of its upload.
        lake.complete(files, output, started);
        FileUtil.fullyDelete(files);
    }

    public void abortTask(TaskAttemptContext context) throws IOException {
        if (lake == null) {
            super.abortTask(context);
        } else {
            FileUtil.fullyDelete(files);
        }
    }

    public void commitJob(JobContext context) throws IOException {
        if (lake == null) {
            super.commitJob(context);
        } else if (context.getConfiguration().getBoolean(SUCCESSFUL_JOB_OUTPUT_DIR_MARKER, true)) {
            lake.create(new Path(output, SUCCEEDED_FILE_NAME), true).close();
        }
    }

    public void abortJob(JobContext context, JobStatus.State state) throws IOException {
        if (lake == null) {
            super.abortJob(context, state);
        }
    }
}
