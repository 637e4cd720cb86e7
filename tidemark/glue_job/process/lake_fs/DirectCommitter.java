package dev.tidemark.lake;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;

/** Commits nothing, as the sinks of DynamicFrames: a file is an object when its task has written it. */
public class DirectCommitter extends FileOutputCommitter {
    private final Path output;

    public DirectCommitter(Path output, TaskAttemptContext context) throws IOException {
        super(output, context);
        this.output = output;
    }

    public Path getWorkPath() throws IOException {
        return output;
    }

    public void setupJob(JobContext context) throws IOException {}

    public boolean needsTaskCommit(TaskAttemptContext context) throws IOException {
        return false;
    }

    public void abortTask(TaskAttemptContext context) throws IOException {}

    public void commitJob(JobContext context) throws IOException {}

    public void abortJob(JobContext context, JobStatus.State state) throws IOException {}
}
