package dev.tidemark.jdbc;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Properties;
import java.util.logging.Logger;

/** The driver that DriverManager asks before all others: it watches what those connect to. */
public class FirstDriver implements Driver {
    private static FirstDriver first;

    /** Puts this driver before all that are known now; does nothing in runs that are not proved. */
    public static synchronized void install() throws SQLException {
        List others = Collections.list(DriverManager.getDrivers());
        if (first == null) {
            first = new FirstDriver();
        }
        others.remove(first);
        DriverManager.deregisterDriver(first);
        Iterator each = others.iterator();
        while (each.hasNext()) {
            DriverManager.deregisterDriver((Driver) each.next());
        }
        DriverManager.registerDriver(first);
        each = others.iterator();
        while (each.hasNext()) {
            DriverManager.registerDriver((Driver) each.next());
        }
    }

    public Connection connect(String url, Properties properties) throws SQLException {
        if (!Settings.areOfProof()) {
            return null;
        }
        Iterator each = new ArrayList(Collections.list(DriverManager.getDrivers())).iterator();
        while (each.hasNext()) {
            Driver driver = (Driver) each.next();
            Connection real = driver == this ? null : driver.connect(url, properties);
            if (real != null) {
                return Databases.watched(real, url);
            }
        }
        return null;
    }

    public boolean acceptsURL(String url) {
        return false;  // Spark asks who does, to know the class of the driver
    }

    public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
        return new DriverPropertyInfo[0];
    }

    public int getMajorVersion() {
        return 1;
    }

    public int getMinorVersion() {
        return 0;
    }

    public boolean jdbcCompliant() {
        return false;
    }

    public Logger getParentLogger() {
        return Logger.getGlobal();
    }
}
