package dev.tidemark.jdbc;

import java.sql.Connection;
import java.sql.Driver;
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions;
import org.apache.spark.sql.jdbc.JdbcConnectionProvider;
import scala.collection.immutable.Map;

/** A provider of Spark's connections, all of which are watched in runs that are proved. */
public class WatchedProvider extends JdbcConnectionProvider {
    private final JdbcConnectionProvider real;

    WatchedProvider(JdbcConnectionProvider real) {
        this.real = real;
    }

    public String name() {
        return real.name();
    }

    public boolean canHandle(Driver driver, Map options) {
        return real.canHandle(driver, options);
    }

    public Connection getConnection(Driver driver, Map options) {
        Connection made = real.getConnection(driver, options);
        return Settings.areOfProof() ? Databases.watched(made, new JDBCOptions(options).url()) : made;
    }

    public boolean modifiesSecurityContext(Driver driver, Map options) {
        return real.modifiesSecurityContext(driver, options);
    }
}
