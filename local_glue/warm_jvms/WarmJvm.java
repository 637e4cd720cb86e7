package dev.tidemark.jvm;

import java.io.PrintStream;
import java.io.StringReader;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TimeZone;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.api.python.Py4JServer;
import org.apache.spark.api.python.PythonGatewayServer$;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.internal.Logging$;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.Utils$;

/**
 * Makes this JVM what a new one would be, before and after each job run that borrows it.
 *
 * What cannot be made as new has a reason in the answer, and the JVM is ended. Written for the compiler
 * that Spark ships (Janino), which has no generics and no lambdas.
 */
public class WarmJvm {
    private static final long GROWTH_LIMIT = 256L * 1024 * 1024;
    private static final long THREAD_PATIENCE_MS = 3000;
    /** Threads that libraries keep for the next work of any context; they hold nothing of a run. */
    private static final String KEPT_THREADS =
        "process reaper|Idle Worker Monitor for .*|derby\\..*|Log4j2-.*|Keep-Alive-Timer"
        + "|org\\.apache\\.hadoop\\.fs\\.FileSystem\\$Statistics\\$StatisticsDataReferenceCleaner"
        + "|(rpc|shuffle|QueryStageCreator|broadcast-exchange|subquery|ForkJoinPool|block-manager)-.*";

    private static final PrintStream out = System.out;
    private static final PrintStream err = System.err;
    private static final Locale locale = Locale.getDefault();
    private static Properties properties;
    private static Set threads;
    private static long used = -1;
    private static Py4JServer server;

    /** Remembers what this JVM is before any run: each run brings all settings of Spark itself. */
    public static void remember() {
        properties = (Properties) System.getProperties().clone();
        Iterator names = properties.stringPropertyNames().iterator();
        while (names.hasNext()) {
            String name = (String) names.next();
            if (name.startsWith("spark.") && !name.startsWith("spark.submit.")) {
                properties.remove(name);
            }
        }
        threads = new HashSet(Thread.getAllStackTraces().keySet());
    }

    /**
     * Prepares a run.
     *
     * @param settings its system properties, with Spark's, as java.util.Properties reads them
     * @param environment all its environment variables, in the same form
     * @return port and secret of a gateway of its own, with a space between
     */
    public static String begin(String settings, String environment) throws Exception {
        Properties all = (Properties) properties.clone();
        all.load(new StringReader(settings));
        System.setProperties(all);
        Properties variables = new Properties();
        variables.load(new StringReader(environment));
        Map current = environment();
        current.clear();
        current.putAll(variables);
        ((LoggerContext) LogManager.getContext(false)).reconfigure();
        Logging$.MODULE$.uninitialize();
        PythonGatewayServer$.MODULE$.initializeLogIfNecessary(true);
        Configuration hadoop = SparkHadoopUtil.get().conf();
        hadoop.clear();
        hadoop.addResource(SparkHadoopUtil.get().newConfiguration(new SparkConf()));
        server = new Py4JServer(new SparkConf());
        server.start();
        return server.getListeningPort() + " " + server.secret();
    }

    /**
     * Ends a run and prints a mark after everything that it printed.
     *
     * @return whether its Spark context was still active, and had to be stopped here
     */
    public static boolean end(String mark) {
        if (server != null) {
            server.shutdown();
            server = null;
        }
        boolean active = SparkContext$.MODULE$.getActive().isDefined();
        if (active) {
            ((SparkContext) SparkContext$.MODULE$.getActive().get()).stop();
        }
        System.out.flush();
        System.err.flush();
        System.setOut(out);
        System.setErr(err);
        print(out, mark);
        print(err, mark);
        return active;
    }

    private static void print(PrintStream stream, String mark) {
        stream.print(mark);
        stream.flush();
    }

    /** Makes this JVM as new; returns why it is not, and an empty text if it is. */
    public static String clean() throws Exception {
        if (isLoaded("org.apache.hadoop.hive.metastore.RawStore")) {
            return "the run used a Hive metastore";
        }
        SparkSession.clearActiveSession();
        SparkSession.clearDefaultSession();
        FileSystem.closeAll();
        FileSystem.clearStatistics();
        Utils$.MODULE$.clearLocalRootDirs();
        if (isLoaded("org.apache.derby.jdbc.InternalDriver")) {
            shutDerbyDown();
        }
        System.setProperties((Properties) properties.clone());
        TimeZone.setDefault(null);
        Locale.setDefault(locale);
        Thread.setDefaultUncaughtExceptionHandler(null);
        String thread = leftThread();
        return thread == null ? heap() : "the run left a thread: " + thread;
    }

    private static void shutDerbyDown() {
        try {
            DriverManager.getConnection("jdbc:derby:;shutdown=true;deregister=false").close();
        } catch (SQLException isDown) {
            // It answers with an error of its own when it is down.
        }
    }

    private static String leftThread() throws InterruptedException {
        long deadline = System.currentTimeMillis() + THREAD_PATIENCE_MS;
        String left = newThread();
        while (left != null && System.currentTimeMillis() < deadline) {
            Thread.sleep(20);
            left = newThread();
        }
        return left;
    }

    private static String newThread() {
        Iterator entries = Thread.getAllStackTraces().entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry entry = (Map.Entry) entries.next();
            Thread thread = (Thread) entry.getKey();
            if (!threads.contains(thread) && !isOurs((StackTraceElement[]) entry.getValue())
                    && !(thread.isDaemon() && thread.getName().matches(KEPT_THREADS))) {
                return thread.getName();
            }
        }
        return null;
    }

    /** Tells whether a thread serves the connection over which this is called. */
    private static boolean isOurs(StackTraceElement[] stack) {
        for (int i = 0; i < stack.length; i++) {
            if (stack[i].getClassName().startsWith("py4j.")) {
                return true;
            }
        }
        return false;
    }

    private static String heap() {
        System.gc();
        long now = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
        if (used < 0) {
            used = now;
        }
        long grown = (now - used) / (1024 * 1024);
        return now - used > GROWTH_LIMIT ? "its heap grew by " + grown + " MB" : "";
    }

    private static boolean isLoaded(String name) throws Exception {
        Method find = ClassLoader.class.getDeclaredMethod("findLoadedClass", new Class[] {String.class});
        find.setAccessible(true);
        return find.invoke(ClassLoader.getSystemClassLoader(), new Object[] {name}) != null;
    }

    /** Returns the variables that this JVM hands on to the processes it starts, to be changed. */
    private static Map environment() throws Exception {
        Field field = Class.forName("java.util.Collections$UnmodifiableMap").getDeclaredField("m");
        field.setAccessible(true);
        return (Map) field.get(System.getenv());
    }
}
