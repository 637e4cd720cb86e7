package dev.tidemark.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;

/** What a statement needs of its connection. */
public abstract class Changes {
    /** Returns the connection that scripts see. */
    public abstract Connection proxy();

    /** Returns whether changes are carried out. */
    public abstract boolean areMade();

    /** Lets a statement change the database; if it commits by itself, that is announced. */
    public abstract Object make(Object statement, Method method, Object[] given) throws Throwable;

    /** Tells once that what would change the database, such as a statement, is not carried out. */
    public abstract void hold(String sql) throws SQLException;

    /** Returns whether a query may lack its table, because its creation was not carried out. */
    public abstract boolean lacksTable(String sql);

    /** Returns something that has no rows, no columns and no values. */
    static Object nothingOf(Class type) {
        return proxyOf(type, new Nothing());
    }

    static Object call(Object target, Method method, Object[] given) throws Throwable {
        try {
            return method.invoke(target, given);
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }

    static Object proxyOf(Class type, InvocationHandler handler) {
        return Proxy.newProxyInstance(Changes.class.getClassLoader(), new Class[] {type}, handler);
    }

    private static class Nothing implements InvocationHandler {
        public Object invoke(Object self, Method method, Object[] given) {
            return nothingFor(method);
        }
    }

    /** Returns what a method without effect returns. */
    static Object nothingFor(Method method) {
        Class type = method.getReturnType();
        if (type == Boolean.TYPE) {
            return Boolean.FALSE;
        }
        if (type == Long.TYPE) {
            return Long.valueOf(0L);
        }
        if (type == Integer.TYPE) {
            return Integer.valueOf(0);
        }
        return type == ResultSet.class || type == ResultSetMetaData.class ? nothingOf(type) : null;
    }
}
