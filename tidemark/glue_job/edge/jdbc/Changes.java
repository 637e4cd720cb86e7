package dev.tidemark.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

/** What a statement needs of its connection. */
public abstract class Changes {
    /** Returns the connection that scripts see. */
    public abstract Connection proxy();

    /** Returns whether changes are carried out. */
    public abstract boolean areMade();

    /** Lets a statement change the database; if it commits by itself, that is announced. */
    public abstract Object make(Object statement, Method method, Object[] given) throws Throwable;

    /** Tells once that what would change the database is not carried out. */
    public abstract void tellHeld() throws SQLException;

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
}
