package dev.tidemark.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.sql.SQLException;
import java.util.Arrays;

/** A statement of a watched connection; if it would change a database that is elsewhere, it does nothing. */
public class WatchedStatement implements InvocationHandler {
    private final Changes of;
    private final Object real;
    private final String sql;
    private int batch;
    private boolean isBatchHeld;

    /**
     * @param real the statement; null if it was prepared for a change that is withheld
     * @param sql of a statement that was prepared; else null
     */
    WatchedStatement(Changes of, Object real, String sql) {
        this.of = of;
        this.real = real;
        this.sql = sql;
    }

    public Object invoke(Object self, Method method, Object[] given) throws Throwable {
        String name = method.getName();
        String text = given != null && given.length > 0 && given[0] instanceof String ? (String) given[0] : sql;
        if (name.equals("getConnection")) {
            return of.proxy();
        }
        if (name.equals("addBatch")) {
            batch++;
            isBatchHeld = !of.areMade() && Sql.changes(text);
            return isBatchHeld ? null : Changes.call(real, method, given);
        }
        if (name.equals("executeBatch") || name.equals("executeLargeBatch")) {
            return batch(method, given);
        }
        if (name.startsWith("execute") && text != null && Sql.changes(text)) {
            if (of.areMade()) {
                return of.make(real, method, given);
            }
            of.hold(text);
            return Changes.nothingFor(method);
        }
        try {
            return real == null ? Changes.nothingFor(method) : Changes.call(real, method, given);
        } catch (SQLException error) {
            if (name.equals("executeQuery") && of.lacksTable(text)) {
                return Changes.nothingFor(method);
            }
            throw error;
        }
    }

    private Object batch(Method method, Object[] given) throws Throwable {
        int count = batch;
        batch = 0;
        if (!isBatchHeld) {
            return of.make(real, method, given);
        }
        of.hold(sql == null ? "" : sql);
        if (method.getReturnType() == long[].class) {
            long[] all = new long[count];
            Arrays.fill(all, 1L);
            return all;
        }
        int[] all = new int[count];
        Arrays.fill(all, 1);
        return all;
    }
}
