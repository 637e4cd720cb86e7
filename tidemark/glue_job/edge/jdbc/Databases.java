package dev.tidemark.jdbc;

import java.sql.Connection;

/** What a run that is proved may do with a database: change one of its home, and only read others. */
public class Databases {
    private static final String EMBEDDED = "jdbc:derby:";

    private Databases() {
    }

    /** Returns a connection that announces commits, or withholds all changes; null stays null. */
    public static Connection watched(Connection real, String url) {
        String place = placeOf(url);
        if (real == null || place.startsWith(EMBEDDED + "memory:")) {
            return real;
        }
        boolean isKept = place.startsWith(EMBEDDED) && isRelative(place.substring(EMBEDDED.length()));
        return new WatchedConnection(real, place, isKept).proxy();
    }

    /** Returns a URL without its properties, which may hold a password. */
    private static String placeOf(String url) {
        int at = url.indexOf("//");
        String place = url.split("[;?]")[0].replaceFirst("^jdbc:derby:directory:", EMBEDDED);
        int user = place.indexOf('@');
        return at > 0 && user > at ? place.substring(0, at + 2) + place.substring(user + 1) : place;
    }

    private static boolean isRelative(String name) {
        return !name.isEmpty() && !name.startsWith("/") && !name.contains(":") && !name.contains("..");
    }
}
