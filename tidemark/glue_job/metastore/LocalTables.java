package dev.tidemark.catalog;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tidemark.jvm.SparkVersion;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.catalyst.analysis.DatabaseAlreadyExistsException;
import org.apache.spark.sql.catalyst.analysis.NoSuchDatabaseException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.catalyst.catalog.CatalogDatabase;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.catalog.InMemoryCatalog;
import org.apache.spark.sql.catalyst.util.StringUtils;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import scala.Option;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/**
 * The databases and tables of `LocalCatalog`: every request is answered by the job's process.
 *
 * Written for the compiler that Spark ships (Janino), which has no generics and no lambdas.
 */
public class LocalTables extends InMemoryCatalog {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Configuration hadoop;
    private final String warehouse;

    public LocalTables(SparkConf conf, Configuration hadoop) {
        super(conf, hadoop);
        this.hadoop = hadoop;
        this.warehouse = conf.get("spark.sql.warehouse.dir");
    }

    /** Asks the process of the job; its errors become those of SparkVersion.refusal. */
    static Object ask(String operation, Map arguments) {
        Map request = new HashMap(arguments);
        request.put("operation", operation);
        try {
            Map reply = (Map) JSON.readValue(Connected.ask(JSON.writeValueAsString(request)), Map.class);
            if (reply.get("error") != null) {
                throw thrown(SparkVersion.refusal((String) reply.get("error")));
            }
            return reply.get("answer");
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    private static Object ask(String operation, String database, String table) {
        return ask(operation, named(database, table));
    }

    static Map named(String database, String table) {
        Map arguments = new HashMap();
        arguments.put("database", database);
        arguments.put("table", table);
        return arguments;
    }

    /** Throws a checked exception of Java, which Scala does not check. */
    static RuntimeException thrown(Throwable error) {
        Platform.throwException(error);
        return null;
    }

    static Seq scalaSeq(List values) {
        return ((scala.collection.mutable.Buffer) JavaConverters.asScalaBufferConverter(values).asScala()).toList();
    }

    // Databases

    public synchronized void createDatabase(CatalogDatabase database, boolean ignoreIfExists) {
        if (databaseExists(database.name())) {
            if (!ignoreIfExists) {
                throw thrown(new DatabaseAlreadyExistsException(database.name()));
            }
            return;
        }
        makeFolder(new Path(database.locationUri()));
        ask("put_database", SparkJson.ofDatabase(database));
    }

    public synchronized void dropDatabase(String name, boolean ignoreIfNotExists, boolean cascade) {
        if (!databaseExists(name)) {
            if (!ignoreIfNotExists) {
                throw thrown(new NoSuchDatabaseException(name));
            }
            return;
        }
        Iterator tables = ((List) ask("tables", name, null)).iterator();
        if (tables.hasNext() && !cascade) {
            throw new IllegalArgumentException(
                "[SCHEMA_NOT_EMPTY] Cannot drop a schema `" + name + "` because it contains objects; use DROP DATABASE "
                + name + " CASCADE");
        }
        while (tables.hasNext()) {
            dropTable(name, (String) ((Map) tables.next()).get("name"), true, false);
        }
        ask("drop_database", name, null);
    }

    public synchronized void alterDatabase(CatalogDatabase database) {
        requireDbExists(database.name());
        ask("put_database", SparkJson.ofDatabase(database));
    }

    public synchronized CatalogDatabase getDatabase(String name) {
        Map found = (Map) ask("database", name, null);
        if (found == null) {
            throw thrown(new NoSuchDatabaseException(name));
        }
        if ("default".equals(name) && "".equals(found.get("location"))) {
            found.put("location", warehouse);
        }
        return SparkJson.toDatabase(found);
    }

    public synchronized boolean databaseExists(String name) {
        return ask("database", name, null) != null;
    }

    public synchronized Seq listDatabases() {
        return scalaSeq((List) ask("databases", null, null));
    }

    public synchronized Seq listDatabases(String pattern) {
        return StringUtils.filterPattern(listDatabases(), pattern);
    }

    public void setCurrentDatabase(String name) {
    }

    // Tables

    public synchronized void createTable(CatalogTable table, boolean ignoreIfExists) {
        String database = (String) table.identifier().database().get();
        String name = table.identifier().table();
        requireDbExists(database);
        if (tableExists(database, name)) {
            if (!ignoreIfExists) {
                throw thrown(new TableAlreadyExistsException(database, name));
            }
            return;
        }
        Map definition = SparkJson.ofTable(table);
        if (table.tableType().equals(CatalogTableType.MANAGED()) && table.storage().locationUri().isEmpty()) {
            Path folder = new Path(new Path(getDatabase(database).locationUri()), name);
            makeFolder(folder);
            definition.put("location", folder.toUri().toString());
        }
        ask("put_table", definition);
    }

    public synchronized void dropTable(String database, String name, boolean ignoreIfNotExists, boolean purge) {
        requireDbExists(database);
        Map found = (Map) ask("stored_table", database, name);
        if (found == null) {
            if (!ignoreIfNotExists) {
                throw thrown(new NoSuchTableException(database, name));
            }
            return;
        }
        if ("MANAGED".equals(found.get("type"))) {
            Iterator places = ((List) ask("places", database, name)).iterator();
            while (places.hasNext()) {
                deleteFolder(new Path((String) places.next()));
            }
        }
        ask("drop_table", database, name);
    }

    public synchronized void renameTable(String database, String oldName, String newName) {
        requireTableExists(database, oldName);
        if (tableExists(database, newName)) {
            throw thrown(new TableAlreadyExistsException(database, newName));
        }
        throw new UnsupportedOperationException(
            "Table rename is not supported: the Data Catalog of Glue cannot rename " + database + "." + oldName
            + "; create " + newName + " from it and drop it");
    }

    public synchronized void alterTable(CatalogTable table) {
        requireTableExists((String) table.identifier().database().get(), table.identifier().table());
        ask("put_table", SparkJson.ofTable(table));
    }

    public synchronized void alterTableDataSchema(String database, String name, StructType schema) {
        StructType whole = schema;
        StructType keys = getTable(database, name).partitionSchema();
        for (int i = 0; i < keys.fields().length; i++) {
            whole = whole.add(keys.fields()[i]);
        }
        alterTableSchema(database, name, whole);
    }

    /** Asked for by Spark 4 only: the columns of the partitions are part of the schema. */
    public synchronized void alterTableSchema(String database, String name, StructType schema) {
        Map definition = SparkJson.ofTable(getTable(database, name));
        definition.putAll(SparkJson.ofSchema(schema));
        ask("put_table", definition);
    }

    public synchronized void alterTableStats(String database, String name, Option stats) {
        Map arguments = named(database, name);
        arguments.putAll(SparkJson.ofStats(stats));
        ask("put_stats", arguments);
    }

    public synchronized CatalogTable getTable(String database, String name) {
        Map found = (Map) ask("table", database, name);
        if (found == null) {
            requireDbExists(database);
            throw thrown(new NoSuchTableException(database, name));
        }
        return SparkJson.toTable(found);
    }

    public Seq getTablesByName(String database, Seq names) {
        requireDbExists(database);
        List found = new ArrayList();
        for (int i = 0; i < names.length(); i++) {
            if (tableExists(database, (String) names.apply(i))) {
                found.add(getTable(database, (String) names.apply(i)));
            }
        }
        return scalaSeq(found);
    }

    public synchronized boolean tableExists(String database, String name) {
        return ask("stored_table", database, name) != null;
    }

    public synchronized Seq listTables(String database) {
        return scalaSeq(names(database, false));
    }

    public synchronized Seq listTables(String database, String pattern) {
        return StringUtils.filterPattern(listTables(database), pattern);
    }

    public synchronized Seq listViews(String database, String pattern) {
        return StringUtils.filterPattern(scalaSeq(names(database, true)), pattern);
    }

    private List names(String database, boolean viewsOnly) {
        requireDbExists(database);
        List names = new ArrayList();
        Iterator tables = ((List) ask("tables", database, null)).iterator();
        while (tables.hasNext()) {
            Map table = (Map) tables.next();
            if (!viewsOnly || Boolean.TRUE.equals(table.get("is_view"))) {
                names.add(table.get("name"));
            }
        }
        return names;
    }

    void makeFolder(Path folder) {
        try {
            folder.getFileSystem(hadoop).mkdirs(folder);
        } catch (IOException error) {
            throw new IllegalArgumentException("cannot make the folder " + folder + ": " + error.getMessage(), error);
        }
    }

    void deleteFolder(Path folder) {
        try {
            folder.getFileSystem(hadoop).delete(folder, true);
        } catch (IOException error) {
            throw new IllegalArgumentException("cannot delete " + folder + ": " + error.getMessage(), error);
        }
    }
}
