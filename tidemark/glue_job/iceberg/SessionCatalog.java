package dev.tidemark.catalog;

import java.util.HashMap;
import java.util.Map;
import org.apache.iceberg.spark.SparkSessionCatalog;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;

/** The session's catalog of a job with Iceberg that names none: it finds Iceberg's tables too, and says so. */
public class SessionCatalog extends SparkSessionCatalog {
    public Table loadTable(Identifier name) throws org.apache.spark.sql.catalyst.analysis.NoSuchTableException {
        Table found = super.loadTable(name);
        if (found instanceof SparkTable && !isListed()) {
            Map request = new HashMap();
            request.put("name", String.valueOf(name));
            IcebergOperations.ask("note_session_catalog", request);
        }
        return found;
    }

    /** Tells whether Spark lists the tables of a database: it loads each to name its type, and reads none. */
    private static boolean isListed() {
        StackTraceElement[] stack = new Throwable().getStackTrace();
        for (int i = 0; i < stack.length; i++) {
            if (stack[i].getMethodName().equals("listTables")
                    && stack[i].getClassName().equals("org.apache.spark.sql.internal.CatalogImpl")) {
                return true;
            }
        }
        return false;
    }
}
