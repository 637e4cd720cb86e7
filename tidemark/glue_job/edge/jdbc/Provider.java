package dev.tidemark.jdbc;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.SQLException;
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions;
import org.apache.spark.sql.jdbc.JdbcConnectionProvider;
import scala.Option;
import scala.collection.immutable.Map;

/** Makes the connections of Spark's JDBC writer that runs which are proved ask for by its name. */
public class Provider extends JdbcConnectionProvider {
    public static final String NAME = "tidemark";

    public String name() {
        return NAME;
    }

    public boolean canHandle(Driver driver, Map options) {
        Option asked = options.get("connectionProvider");
        return asked.isDefined() && asked.get().equals(NAME);
    }

    public Connection getConnection(Driver driver, Map options) {
        JDBCOptions asked = new JDBCOptions(options);
        try {
            Connection real = driver.connect(asked.url(), asked.asConnectionProperties());
            return Databases.watched(real, asked.url());
        } catch (SQLException error) {
            throw new IllegalStateException(error.getMessage(), error);
        }
    }

    public boolean modifiesSecurityContext(Driver driver, Map options) {
        return false;
    }
}
