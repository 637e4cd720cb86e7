package dev.tidemark.jvm;

import java.lang.reflect.Field;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.HttpURLConnection;
import java.net.ProxySelector;
import java.net.ResponseCache;
import java.security.Security;
import java.sql.Driver;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.logging.Handler;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry$;
import org.apache.spark.sql.catalyst.analysis.TableFunctionRegistry$;
import org.apache.spark.sql.types.UDTRegistration;

/**
 * What Java, Hadoop and Spark keep once in a JVM, and a script may set: after a run it is as before, or the JVM
 * is not used again. What can be made as before without a doubt is reset by WarmJvm instead.
 *
 * A value is compared by equals: objects that do not know it are compared as such.
 */
public class Statics {
    /** The class of the drivers that Spark registers for names of them; WarmJvm takes them out again. */
    public static final String DRIVER_WRAPPER = "org.apache.spark.sql.execution.datasources.jdbc.DriverWrapper";

    /** The driver that watches connections in runs that are proved; in others it does nothing. */
    private static final String WATCHING_DRIVER = "dev.tidemark.jdbc.FirstDriver";

    /** Fields without a getter, or whose getter would make what it returns. */
    private static final String[][] FIELDS = {
        {"java.net.Socket", "factory"},
        {"java.net.ServerSocket", "factory"},
        {"java.net.DatagramSocket", "factory"},
        {"java.net.URLConnection", "factory"},
        {"java.net.URLConnection", "fileNameMap"},
        {"java.net.URLConnection", "defaultUseCaches"},
        {"java.net.URLConnection", "defaultAllowUserInteraction"},
        {"java.net.URLConnection", "defaultCaching"},
        {"java.security.Security", "props"},
        {"javax.net.ssl.HttpsURLConnection", "defaultHostnameVerifier"},
        {"javax.net.ssl.HttpsURLConnection", "defaultSSLSocketFactory"},
        {"javax.net.ssl.SSLContext", "defaultContext"},
        {"javax.naming.spi.NamingManager", "initctx_factory_builder"},
        {"javax.naming.spi.NamingManager", "object_factory_builder"},
        {"javax.security.auth.login.Configuration", "configuration"},
        {"java.lang.ApplicationShutdownHooks", "hooks"},
        {"org.apache.hadoop.security.UserGroupInformation", "conf"},
        {"org.apache.hadoop.security.UserGroupInformation", "authenticationMethod"},
        {"org.apache.hadoop.net.NetUtils", "hostToResolved"},
        {"org.apache.spark.sql.jdbc.JdbcDialects$", "dialects"},
        {"org.apache.spark.sql.types.UDTRegistration$", "udtMap"},
    };
    /** Resources that classes of Hadoop add themselves, when a job first uses them. */
    private static final String RESOURCES_OF_HADOOP =
        "(core|hdfs|hdfs-rbf|mapred|yarn|resource-types|hive|ozone)-(default|site)\\.xml|resource-types\\.xml";
    /** The secret with which each Spark context of this JVM authenticates. */
    private static final String SECRET_OF_SPARK = "sparkCookie";

    private static Map before;

    /** Remembers all values, before any run. */
    public static void remember() throws Exception {
        SparkHadoopUtil.get();  // sets Hadoop's configuration of users
        UserGroupInformation.getLoginUser();
        UDTRegistration.exists("");
        before = values();
    }

    /** Returns what a run has set and not set back; null if it has set nothing. */
    public static String changed() throws Exception {
        Iterator entries = values().entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry entry = (Map.Entry) entries.next();
            Object was = before.get(entry.getKey());
            if (was == null ? entry.getValue() != null : !was.equals(entry.getValue())) {
                return (String) entry.getKey();
            }
        }
        return null;
    }

    private static Map values() throws Exception {
        Map values = new LinkedHashMap();
        values.put("java.net.Authenticator", Authenticator.getDefault());
        values.put("java.net.CookieHandler", CookieHandler.getDefault());
        values.put("java.net.ProxySelector", ProxySelector.getDefault());
        values.put("java.net.ResponseCache", ResponseCache.getDefault());
        values.put("java.net.HttpURLConnection.followRedirects", Boolean.valueOf(HttpURLConnection.getFollowRedirects()));
        values.put("java.lang.System.in", System.in);
        values.put("java.lang.SecurityManager", System.getSecurityManager());
        values.put(
            "the built-in functions of Spark", FunctionRegistry$.MODULE$.builtin().functionBuilders().toString());
        values.put(
            "the built-in table functions of Spark",
            TableFunctionRegistry$.MODULE$.builtin().functionBuilders().toString());
        values.put("the security providers", Arrays.asList(Security.getProviders()));
        values.put("the login timeout of java.sql.DriverManager", Integer.valueOf(DriverManager.getLoginTimeout()));
        values.put("the log of java.sql.DriverManager", DriverManager.getLogWriter());
        values.put("the drivers of java.sql.DriverManager", drivers());
        values.put("java.util.logging", loggers());
        values.put("Hadoop's login user", UserGroupInformation.getLoginUser());
        values.put("the credentials of Hadoop's login user", credentials());
        values.put("the default resources of Hadoop's Configuration", resources());
        for (int i = 0; i < FIELDS.length; i++) {
            values.put(FIELDS[i][0] + "." + FIELDS[i][1], copy(read(FIELDS[i][0], FIELDS[i][1])));
        }
        return values;
    }

    /** Reads a static field, also of a module that opens it to nobody. */
    static Object read(String type, String name) throws Exception {
        Field field = Class.forName(type).getDeclaredField(name);
        return field.getType() == Boolean.TYPE
            ? Boolean.valueOf(memory().getBoolean(base(field), offset(field)))
            : memory().getObject(base(field), offset(field));
    }

    /** Sets such a field, also a final one. */
    static void write(String type, String name, Object value) throws Exception {
        Field field = Class.forName(type).getDeclaredField(name);
        memory().putObject(base(field), offset(field), value);
    }

    private static Object base(Field field) throws Exception {
        return isStatic(field)
            ? memory().staticFieldBase(field) : field.getDeclaringClass().getField("MODULE$").get(null);
    }

    private static long offset(Field field) throws Exception {
        return isStatic(field) ? memory().staticFieldOffset(field) : memory().objectFieldOffset(field);
    }

    private static boolean isStatic(Field field) {
        return (field.getModifiers() & java.lang.reflect.Modifier.STATIC) != 0;
    }

    private static sun.misc.Unsafe memory() throws Exception {
        Field unsafe = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        unsafe.setAccessible(true);
        return (sun.misc.Unsafe) unsafe.get(null);
    }

    private static Object copy(Object value) {
        if (value instanceof java.util.Properties) {
            return ((java.util.Properties) value).clone();
        }
        if (value instanceof Map) {
            return new java.util.HashMap((Map) value);
        }
        return value instanceof scala.collection.mutable.Map
            ? ((scala.collection.mutable.Map) value).toString() : value;
    }

    private static List drivers() {
        List found = new ArrayList();
        Iterator drivers = Collections.list(DriverManager.getDrivers()).iterator();
        while (drivers.hasNext()) {
            Driver driver = (Driver) drivers.next();
            String name = driver.getClass().getName();
            if (!name.equals(DRIVER_WRAPPER) && !name.equals(WATCHING_DRIVER)) {
                found.add(driver);
            }
        }
        return found;
    }

    /** Returns the settings of each logger that has some. */
    private static Map loggers() {
        Map found = new TreeMap();
        Iterator names = Collections.list(LogManager.getLogManager().getLoggerNames()).iterator();
        while (names.hasNext()) {
            Logger logger = LogManager.getLogManager().getLogger((String) names.next());
            if (logger == null) {
                continue;  // nobody holds it any more
            }
            List settings = new ArrayList();
            settings.add(logger.getLevel());
            settings.add(logger.getFilter());
            settings.add(logger.getUseParentHandlers() ? null : "apart");
            Handler[] handlers = logger.getHandlers();
            for (int i = 0; i < handlers.length; i++) {
                settings.add(handlers[i]);
                settings.add(handlers[i].getLevel());
                settings.add(handlers[i].getFilter());
                settings.add(handlers[i].getFormatter());
            }
            if (!new HashSet(settings).equals(Collections.singleton(null))) {
                found.put(logger.getName(), settings);
            }
        }
        return found;
    }

    private static List credentials() throws Exception {
        Credentials credentials = UserGroupInformation.getLoginUser().getCredentials();
        List found = new ArrayList();
        Iterator secrets = credentials.getAllSecretKeys().iterator();
        while (secrets.hasNext()) {
            String name = secrets.next().toString();
            if (!name.equals(SECRET_OF_SPARK)) {
                found.add(name);
            }
        }
        found.addAll(credentials.getAllTokens());
        return found;
    }

    private static List resources() throws Exception {
        List found = new ArrayList();
        Iterator names = ((Collection) read("org.apache.hadoop.conf.Configuration", "defaultResources")).iterator();
        while (names.hasNext()) {
            String name = (String) names.next();
            if (!name.matches(RESOURCES_OF_HADOOP)) {
                found.add(name);
            }
        }
        return found;
    }
}
