package dev.tidemark.jdbc;

import java.lang.reflect.Field;
import java.sql.SQLException;
import java.util.Map;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.sql.jdbc.JdbcConnectionProvider;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.List;
import scala.collection.immutable.Nil$;

/** Watches all connections of a JVM: those of DriverManager, and those of Spark. */
public class Watch implements SparkPlugin {
    private static final String PROVIDERS =
        "org.apache.spark.sql.execution.datasources.jdbc.connection.ConnectionProvider$";

    /** Lets this JVM watch its connections; they are watched in runs that are proved. */
    public static synchronized void install() throws ReflectiveOperationException, SQLException {
        FirstDriver.install();
        Class known = Class.forName(PROVIDERS);
        Field field = known.getSuperclass().getDeclaredField("providers");
        field.setAccessible(true);
        Object all = known.getField("MODULE$").get(null);
        field.set(all, watched((Seq) field.get(all)));
    }

    private static List watched(Seq providers) {
        List found = Nil$.MODULE$;
        Iterator each = providers.reverseIterator();
        while (each.hasNext()) {
            JdbcConnectionProvider one = (JdbcConnectionProvider) each.next();
            found = new $colon$colon(one instanceof WatchedProvider ? one : new WatchedProvider(one), found);
        }
        return found;
    }

    public DriverPlugin driverPlugin() {
        return null;  // the driver installs it when its context is there, whatever a script sets
    }

    public ExecutorPlugin executorPlugin() {
        return new OnExecutor();
    }

    private static class OnExecutor implements ExecutorPlugin {
        public void init(PluginContext context, Map settings) {
            try {
                install();
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            } catch (SQLException error) {
                throw new IllegalStateException(error);
            }
        }
    }
}
