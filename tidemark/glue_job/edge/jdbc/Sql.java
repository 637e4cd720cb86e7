package dev.tidemark.jdbc;

import java.util.regex.Pattern;

/** Tells statements that change a database from those that read it. */
public class Sql {
    private static final int FLAGS = Pattern.DOTALL | Pattern.CASE_INSENSITIVE;
    private static final Pattern BEFORE = Pattern.compile("^(\\s|\\(|--[^\\n]*\\n|/\\*.*?\\*/)+", Pattern.DOTALL);
    private static final Pattern READS =
        Pattern.compile("(SELECT|VALUES|WITH|SHOW|DESC|DESCRIBE|EXPLAIN|SET|USE)\\b.*", FLAGS);
    private static final Pattern CHANGES = Pattern.compile(".*\\b(INSERT|UPDATE|DELETE|MERGE|INTO)\\b.*", FLAGS);
    private static final Pattern FOR_UPDATE = Pattern.compile("\\bFOR\\s+(NO\\s+KEY\\s+)?UPDATE\\b", FLAGS);
    private static final Pattern ASKS_FOR_TABLE = Pattern.compile("SELECT\\s+1\\s+FROM\\b.*", FLAGS);
    private static final Pattern STRINGS = Pattern.compile("'[^']*'");

    private Sql() {
    }

    /** Returns whether a query only asks whether a table is there, as Spark's dialects do. */
    public static boolean asksForTable(String sql) {
        return ASKS_FOR_TABLE.matcher(BEFORE.matcher(sql).replaceFirst("")).matches();
    }

    /** Returns whether a statement may change something. */
    public static boolean changes(String sql) {
        String text = STRINGS.matcher(BEFORE.matcher(sql).replaceFirst("")).replaceAll("''");
        text = FOR_UPDATE.matcher(text).replaceAll("");
        return !READS.matcher(text).matches() || CHANGES.matcher(text).matches();
    }
}
