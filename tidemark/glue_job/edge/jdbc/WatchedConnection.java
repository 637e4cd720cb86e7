package dev.tidemark.jdbc;

import dev.tidemark.lake.Edge;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/** A connection whose commits are announced, with a copy of the database; or which changes nothing. */
public class WatchedConnection extends Changes implements InvocationHandler {
    private static final Set CREATED = Collections.synchronizedSet(new HashSet());  // places, each with the edge of its run

    private final Connection real;
    private final String place;
    private final boolean isKept;
    private boolean isChanged;
    private boolean isTold;
    private Connection proxy;

    WatchedConnection(Connection real, String place, boolean isKept) {
        this.real = real;
        this.place = place;
        this.isKept = isKept;
    }

    public Connection proxy() {
        if (proxy == null) {
            proxy = (Connection) proxyOf(Connection.class, this);
        }
        return proxy;
    }

    public Object invoke(Object self, Method method, Object[] given) throws Throwable {
        String name = method.getName();
        if (name.equals("commit") && isChanged) {
            commit();
            return null;
        }
        if (name.equals("setAutoCommit") && isChanged && ((Boolean) given[0]).booleanValue()) {
            commit();
        }
        if (name.equals("rollback")) {
            isChanged = false;
        }
        if (name.equals("prepareStatement") || name.equals("prepareCall")) {
            Class type = name.equals("prepareCall") ? CallableStatement.class : PreparedStatement.class;
            String sql = (String) given[0];
            return proxyOf(type, new WatchedStatement(this, prepared(method, given, sql), sql));
        }
        Object found = call(real, method, given);
        return name.equals("createStatement")
            ? proxyOf(Statement.class, new WatchedStatement(this, found, null)) : found;
    }

    /** Returns a statement; null if it does nothing, for its table may not be there. */
    private Object prepared(Method method, Object[] given, String sql) throws Throwable {
        if (!isKept && Sql.changes(sql)) {
            return null;
        }
        try {
            return call(real, method, given);
        } catch (SQLException error) {
            if (lacksTable(sql)) {
                return null;
            }
            throw error;
        }
    }

    public boolean lacksTable(String sql) {
        // Who asks whether it is there would read its columns next, if it were.
        return CREATED.contains(ofRun()) && !Sql.asksForTable(sql);
    }

    private String ofRun() {
        return Settings.get("spark.hadoop." + Edge.EDGE) + place;
    }

    /** Lets a statement change the database; if it commits by itself, that is announced. */
    public Object make(Object statement, Method method, Object[] given) throws Throwable {
        boolean commits = real.getAutoCommit();
        if (commits) {
            real.setAutoCommit(false);
        }
        try {
            Object found = call(statement, method, given);
            isChanged = true;
            if (commits) {
                commit();
            }
            return found;
        } catch (SQLException error) {
            if (commits) {
                real.rollback();
            }
            throw error;
        } finally {
            if (commits) {
                real.setAutoCommit(true);
            }
        }
    }

    public boolean areMade() {
        return isKept;
    }

    public void hold(String sql) throws SQLException {
        if (sql.trim().toUpperCase().startsWith("CREATE")) {
            CREATED.add(ofRun());
        }
        if (!isTold) {
            isTold = true;
            Edge edge = Settings.edge();
            enter(edge);
            leave(edge, "withheld");
        }
    }

    private void commit() throws SQLException {
        Edge edge = Settings.edge();
        enter(edge);
        String done = null;
        try {
            real.commit();
            isChanged = false;
            if (edge.isOn()) {
                copy();
            }
            done = "jdbc";
        } finally {
            leave(edge, done);
        }
    }

    private void copy() throws SQLException {
        Statement statement = real.createStatement();
        try {
            String folder = Settings.get(Settings.COPIES).replace("'", "''");
            statement.execute("CALL SYSCS_UTIL.SYSCS_BACKUP_DATABASE('" + folder + "')");
            if (!real.getAutoCommit()) {
                real.commit();
            }
        } finally {
            statement.close();
        }
    }

    private void enter(Edge edge) throws SQLException {
        try {
            edge.enter();
        } catch (IOException error) {
            real.rollback();
            isChanged = false;
            throw new SQLException("the commit was refused: " + error.getMessage(), error);
        }
    }

    private void leave(Edge edge, String kind) throws SQLException {
        try {
            edge.leave(kind, new String[] {place});
        } catch (IOException error) {
            throw new SQLException(error.getMessage(), error);
        }
    }
}
