package dev.tidemark.cluster;

import org.apache.spark.SparkConf;
import org.apache.spark.deploy.master.Master$;
import org.apache.spark.deploy.worker.Worker$;
import org.apache.spark.rpc.RpcEnv;
import scala.Option;
import scala.Tuple3;

/** Spark's own cluster in one JVM: a master, and a worker of one core for each executor. */
public final class Standalone {
    private static final String HERE = "127.0.0.1";
    private static final int ANY_PORT = 0;
    // In MB, only for bookkeeping: what an executor may take is its own setting.
    private static final int MEMORY_OF_WORKER = 1024 * 1024;

    /** Takes the number of executors, and the folder of their files; ends when it is killed. */
    public static void main(String[] words) {
        SparkConf conf = new SparkConf();
        // The master is elected in its own first message, so before it hears of a worker.
        Tuple3 started = Master$.MODULE$.startRpcEnvAndEndpoint(HERE, ANY_PORT, ANY_PORT, conf);
        RpcEnv master = (RpcEnv) started._1();
        String[] urls = {"spark://" + HERE + ":" + master.address().port()};
        for (int number = 1; number <= Integer.parseInt(words[0]); number++) {
            Worker$.MODULE$.startRpcEnvAndEndpoint(
                    HERE,
                    ANY_PORT,
                    ANY_PORT,
                    1,
                    MEMORY_OF_WORKER,
                    urls,
                    words[1] + "/worker-" + number,
                    Option.apply((Object) Integer.valueOf(number)),
                    conf,
                    Option.empty());
        }
        master.awaitTermination();
    }
}
