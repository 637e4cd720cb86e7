package dev.tidemark.jvm;

import java.io.File;
import java.io.PrintStream;
import java.io.StringReader;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TimeZone;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
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
 * Resets this JVM before and after each job run that borrows it.
 *
 * What cannot be made as new has a reason in the answer, and the JVM is ended. Written for the compiler
 * that Spark ships (Janino), which has no generics and no lambdas.
 */
public class WarmJvm {
    private static final long GROWTH_LIMIT = 256L * 1024 * 1024;
    private static final long THREAD_PATIENCE_MS = 3000;
    /** Threads that libraries keep for the next work of any context; they hold nothing of a run. */
    private static final String KEPT_THREADS =
        "process reaper|Cleaner-\\d+|Idle Worker Monitor for .*|derby\\..*|Log4j2-.*|Keep-Alive-Timer"
        + "|org\\.apache\\.hadoop\\.fs\\.FileSystem\\$Statistics\\$StatisticsDataReferenceCleaner"
        + "|(rpc|shuffle|QueryStageCreator|ResultQueryStageExecution|broadcast-exchange|subquery"
        + "|ForkJoinPool|ForkJoinPool\\.commonPool-worker|block-manager|iceberg-(delete-)?worker-pool)-.*";
    /** Numbers that a script sees in plans. */
    private static final String[][] COUNTERS = {
        {"org.apache.spark.sql.catalyst.expressions.NamedExpression$", "curId"},
        {"org.apache.spark.sql.catalyst.plans.logical.CTERelationDef$", "curId"},
        {"org.apache.spark.sql.execution.SparkPlan$", "nextPlanId"},
    };

    private static final String DERBY_IN_MEMORY = "org.apache.derby.impl.io.VFMemoryStorageFactory";

    private static final String DRIVER_REGISTRY = "org.apache.spark.sql.execution.datasources.jdbc.DriverRegistry$";

    private static final String[] OF_SPARK_SUBMIT =
        {"PYTHONHASHSEED", "SPARK_ENV_LOADED", "SPARK_SCALA_VERSION"};

    private static final PrintStream out = System.out;
    private static final PrintStream err = System.err;
    private static final Locale locale = Locale.getDefault();
    private static Properties properties;
    private static final Properties ofSparkSubmit = new Properties();
    private static Set threads;
    private static long used;
    private static Py4JServer server;

    /** Remembers the state of this JVM before any run: each run brings all settings of Spark itself. */
    public static void remember() throws Exception {
        // Java keeps the folder of the first temporary file, and that of a run is deleted at its end.
        File.createTempFile("first", null).delete();
        properties = (Properties) System.getProperties().clone();
        Iterator names = properties.stringPropertyNames().iterator();
        while (names.hasNext()) {
            String name = (String) names.next();
            if (name.startsWith("spark.") && !name.startsWith("spark.submit.")) {
                properties.remove(name);
            }
        }
        for (int i = 0; i < OF_SPARK_SUBMIT.length; i++) {
            if (System.getenv(OF_SPARK_SUBMIT[i]) != null) {
                ofSparkSubmit.put(OF_SPARK_SUBMIT[i], System.getenv(OF_SPARK_SUBMIT[i]));
            }
        }
        GeneratedCode.keep();
        Statics.remember();
        threads = new HashSet(Thread.getAllStackTraces().keySet());
        used = used();
    }

    /**
     * Prepares a run.
     *
     * @param settings its system properties, as java.util.Properties reads them
     * @param file the settings of its file for spark-submit, in the same form
     * @param conf those of its script
     * @param environment all its environment variables
     * @return port and secret of a gateway of its own, with a space between
     */
    public static String begin(String settings, String file, String conf, String environment)
            throws Exception {
        Properties all = (Properties) properties.clone();
        all.load(new StringReader(settings));
        putSparks(all, file, true);
        putSparks(all, conf, false);
        System.setProperties(all);
        setFolder(all.getProperty("user.dir"));
        setEnvironment(environment);
        ((LoggerContext) LogManager.getContext(false)).reconfigure();
        Logging$.MODULE$.uninitialize();
        PythonGatewayServer$.MODULE$.initializeLogIfNecessary(true);
        Configuration hadoop = SparkHadoopUtil.get().conf();
        hadoop.clear();
        Iterator entries = SparkHadoopUtil.get().newConfiguration(new SparkConf()).iterator();
        while (entries.hasNext()) {
            Map.Entry entry = (Map.Entry) entries.next();
            hadoop.set((String) entry.getKey(), (String) entry.getValue());
        }
        for (int i = 0; i < COUNTERS.length; i++) {
            startAgain(COUNTERS[i][0], COUNTERS[i][1]);
        }
        server = new Py4JServer(new SparkConf());
        server.start();
        return server.getListeningPort() + " " + server.secret();
    }

    /** Takes the settings of Spark as spark-submit does, which trims those of a file. */
    private static void putSparks(Properties all, String text, boolean isTrimmed) throws Exception {
        Properties given = new Properties();
        given.load(new StringReader(text));
        Iterator names = given.stringPropertyNames().iterator();
        while (names.hasNext()) {
            String name = (String) names.next();
            if (name.startsWith("spark.")) {
                String value = given.getProperty(name);
                all.setProperty(name, isTrimmed ? Utils$.MODULE$.trimExceptCRLF(value) : value);
            } else {
                err.println("Warning: Ignoring non-Spark config property: " + name);
            }
        }
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

    /** Resets this JVM; returns why that failed, or an empty string. */
    public static String clean() throws Exception {
        if (isLoaded("org.apache.hadoop.hive.metastore.RawStore")) {
            return "the run used a Hive metastore";
        }
        SparkSession.clearActiveSession();
        SparkSession.clearDefaultSession();
        FileSystem.closeAll();
        FileSystem.clearStatistics();
        Utils$.MODULE$.clearLocalRootDirs();
        if (isLoaded(SparkVersion.DERBY)) {
            shutDerbyDown();
        }
        if (isLoaded(Statics.DRIVER_WRAPPER)) {
            forgetDrivers();
        }
        System.setProperties((Properties) properties.clone());
        TimeZone.setDefault(null);
        Locale.setDefault(locale);
        Thread.setDefaultUncaughtExceptionHandler(null);
        forgetUrls();
        String changed = Statics.changed();
        if (changed != null) {
            return "the run changed " + changed;
        }
        String thread = leftThread();
        return thread == null ? heap() : "the run left a thread: " + thread;
    }

    private static void shutDerbyDown() throws Exception {
        if (SparkVersion.isDerbyActive()) {
            try {
                DriverManager.getConnection("jdbc:derby:;shutdown=true;deregister=false").close();
            } catch (SQLException isDown) {
                // It answers with an error of its own when it is down.
            }
            // Else its driver accepts no URL until somebody connects.
            field(SparkVersion.DERBY_DRIVER, "_engineForcedDown").setBoolean(null, false);
        }
        if (isLoaded(DERBY_IN_MEMORY)) {
            ((Map) field(DERBY_IN_MEMORY, "DATABASES").get(null)).clear();
            Object names = field(DERBY_IN_MEMORY, "DUMMY_STORE").get(null);  // of all databases
            ((Map) field(names.getClass(), "files").get(names)).clear();
        }
    }

    /** Forgets the drivers that runs have named: one that names none would get Spark's wrapper of it. */
    private static void forgetDrivers() throws Exception {
        Iterator drivers = Collections.list(DriverManager.getDrivers()).iterator();
        while (drivers.hasNext()) {
            Driver driver = (Driver) drivers.next();
            if (driver.getClass().getName().equals(Statics.DRIVER_WRAPPER)) {
                DriverManager.deregisterDriver(driver);
            }
        }
        Class registry = Class.forName(DRIVER_REGISTRY);
        Object wrappers = field(registry, "wrapperMap").get(registry.getField("MODULE$").get(null));
        ((scala.collection.mutable.Map) wrappers).clear();
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
            StackTraceElement[] stack = (StackTraceElement[]) entry.getValue();
            boolean isKept = thread.getName().matches(KEPT_THREADS) || isIdle(thread, stack);
            boolean isAtWork = isIn("java.util.concurrent.ForkJoinTask.doExec", stack);
            if (!threads.contains(thread) && !isOurs(thread, stack)
                    && !(thread.isDaemon() && isKept && !isAtWork)) {
                return thread.getName();
            }
        }
        return null;
    }

    /** Tells whether a thread serves a connection of Py4J, and no call of the run's script. */
    private static boolean isOurs(Thread thread, StackTraceElement[] stack) {
        boolean isServer = false;
        for (int i = 0; i < stack.length; i++) {
            if (stack[i].getClassName().startsWith("py4j.commands.")) {
                return thread == Thread.currentThread();
            }
            isServer = isServer || stack[i].getClassName().startsWith("py4j.");
        }
        return isServer;
    }

    /** Tells whether a thread of an executor has no work, not even later, and ends if none comes in time. */
    private static boolean isIdle(Thread thread, StackTraceElement[] stack) {
        return thread.getState() == Thread.State.TIMED_WAITING
            && isIn("java.util.concurrent.ThreadPoolExecutor.getTask", stack)
            && !isIn("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.poll", stack)
            && !isIn("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take", stack);
    }

    private static boolean isIn(String method, StackTraceElement[] stack) {
        for (int i = 0; i < stack.length; i++) {
            if (method.equals(stack[i].getClassName() + "." + stack[i].getMethodName())) {
                return true;
            }
        }
        return false;
    }

    private static String heap() {
        // To collect garbage takes as long as a small job, and most runs make less than the limit.
        long grown = taken() - used <= GROWTH_LIMIT ? 0 : used() - used;
        return grown > GROWTH_LIMIT ? "its heap grew by " + grown / (1024 * 1024) + " MB" : "";
    }

    private static long used() {
        System.gc();
        return taken();
    }

    private static long taken() {
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private static boolean isLoaded(String name) throws Exception {
        Method find = ClassLoader.class.getDeclaredMethod("findLoadedClass", new Class[] {String.class});
        find.setAccessible(true);
        return find.invoke(ClassLoader.getSystemClassLoader(), new Object[] {name}) != null;
    }

    /** Lets java.io take names without a folder as names in this one; it looked once, at the start. */
    private static void setFolder(String folder) throws Exception {
        Object fileSystem = null;
        Field[] fields = java.io.File.class.getDeclaredFields();
        for (int i = 0; i < fields.length; i++) {
            if (fields[i].getType().getName().equals("java.io.FileSystem")) {
                fields[i].setAccessible(true);
                fileSystem = fields[i].get(null);
            }
        }
        field(fileSystem.getClass(), "userDir").set(fileSystem, folder);
    }

    /** Sets the variables of the processes that this JVM starts, byte for byte. */
    private static void setEnvironment(String text) throws Exception {
        Properties variables = new Properties();
        variables.putAll(ofSparkSubmit);
        variables.load(new StringReader(text));
        Map current = (Map) field("java.lang.ProcessEnvironment", "theEnvironment").get(null);
        Method name = bytesOf("java.lang.ProcessEnvironment$Variable");
        Method value = bytesOf("java.lang.ProcessEnvironment$Value");
        current.clear();
        Iterator entries = variables.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry entry = (Map.Entry) entries.next();
            current.put(
                name.invoke(null, new Object[] {((String) entry.getKey()).getBytes("ISO-8859-1")}),
                value.invoke(null, new Object[] {((String) entry.getValue()).getBytes("ISO-8859-1")}));
        }
    }

    private static Method bytesOf(String type) throws Exception {
        Method method = Class.forName(type).getDeclaredMethod("valueOf", new Class[] {byte[].class});
        method.setAccessible(true);
        return method;
    }

    /** Forgets how Spark opens URLs: with the Hadoop configuration of the first run. */
    private static void forgetUrls() throws Exception {
        field("java.net.URL", "factory").set(null, null);
        ((Map) field("java.net.URL", "handlers").get(null)).clear();
        Class state = Class.forName("org.apache.spark.sql.internal.SharedState$");
        field(state, "fsUrlStreamHandlerFactoryInitialized").setBoolean(state.getField("MODULE$").get(null), false);
    }

    private static void startAgain(String type, String name) throws Exception {
        Object module = Class.forName(type).getField("MODULE$").get(null);
        Object counter = field(type, name).get(module);
        if (counter instanceof AtomicLong) {
            ((AtomicLong) counter).set(0);
        } else {
            ((AtomicInteger) counter).set(0);
        }
    }

    private static Field field(String type, String name) throws Exception {
        return field(Class.forName(type), name);
    }

    private static Field field(Class type, String name) throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }
}
