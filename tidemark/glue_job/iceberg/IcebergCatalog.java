package dev.tidemark.catalog;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configurable;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.BaseMetastoreCatalog;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.SupportsNamespaces;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.NamespaceNotEmptyException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.io.FileIO;

/**
 * Iceberg's catalog over the local Data Catalog, with the rules of Iceberg's own for AWS Glue.
 *
 * Source: https://iceberg.apache.org/docs/1.10.0/aws/#glue-catalog
 */
public class IcebergCatalog extends BaseMetastoreCatalog implements SupportsNamespaces, Configurable {
    private static final String FILE_IO = "org.apache.iceberg.hadoop.HadoopFileIO";

    private String name;
    private Map properties = new HashMap();
    private String warehouse;
    private Configuration hadoop;
    private FileIO io;

    public void setConf(Configuration conf) {
        this.hadoop = conf;
    }

    public Configuration getConf() {
        return hadoop;
    }

    public void initialize(String catalog, Map given) {
        this.name = catalog;
        this.properties = new HashMap(given);
        String place = withoutSlash((String) given.get("warehouse"));
        // The catalog by REST has an account as its warehouse.
        this.warehouse = place != null && place.matches("\\d{12}") ? null : place;
        String id = given.get("glue.id") + " " + place;
        if (id.indexOf("s3tablescatalog") >= 0 || (place != null && place.startsWith("arn:"))) {
            throw new UnsupportedOperationException(
                "the catalog " + catalog + " is one of S3 Tables (" + id + "), which do not run locally: give it a "
                + "warehouse s3://bucket/prefix and no glue.id here, for example by a job argument");
        }
        String implementation = (String) given.get("io-impl");
        this.io = CatalogUtil.loadFileIO(implementation == null ? FILE_IO : implementation, given, hadoop);
    }

    public String name() {
        return name;
    }

    protected Map properties() {
        return properties;
    }

    private static String withoutSlash(String place) {
        return place != null && place.endsWith("/") ? withoutSlash(place.substring(0, place.length() - 1)) : place;
    }

    // Tables

    protected TableOperations newTableOps(TableIdentifier table) {
        String database = databaseOf(table.namespace());
        if (!isValid(table.name())) {
            throw new ValidationException(
                "Cannot use " + table.name() + " as Glue table name, because it must be 1-255 chars of lowercase "
                + "letters, numbers, underscore", new Object[0]);
        }
        return new IcebergOperations(name + "." + database + "." + table.name(), database, table.name(), io);
    }

    /** Returns whether it can name a table; the name of a metadata table has one part more. */
    protected boolean isValidIdentifier(TableIdentifier table) {
        return table.namespace().levels().length == 1 && isValid(table.namespace().level(0)) && isValid(table.name());
    }

    private boolean isValid(String text) {
        return "true".equals(properties.get("glue.skip-name-validation")) || text.matches("[a-z0-9_]{1,255}");
    }

    private String databaseOf(Namespace namespace) {
        if (namespace.levels().length != 1 || !isValid(namespace.level(0))) {
            throw new ValidationException(
                "Cannot convert namespace " + namespace + " to Glue database name, because it must be 1-255 chars of "
                + "lowercase letters, numbers, underscore", new Object[0]);
        }
        return namespace.level(0);
    }

    protected String defaultWarehouseLocation(TableIdentifier table) {
        String database = databaseOf(table.namespace());
        Map found = (Map) IcebergOperations.ask("database", IcebergOperations.named(database, null));
        String place = found == null ? null : withoutSlash((String) found.get("location"));
        if (place != null && place.length() > 0) {
            return place + "/" + table.name();
        }
        if (warehouse == null || warehouse.length() == 0) {
            throw new ValidationException(
                "Cannot derive default warehouse location, warehouse path must not be null or empty: set "
                + "spark.sql.catalog." + name + ".warehouse, or give the table a LOCATION", new Object[0]);
        }
        return warehouse + "/" + database + ".db/" + table.name();
    }

    public List listTables(Namespace namespace) {
        String database = existing(namespace);
        List found = new ArrayList();
        Iterator names = ((List) IcebergOperations.ask("iceberg_tables", IcebergOperations.named(database, null))).iterator();
        while (names.hasNext()) {
            found.add(TableIdentifier.of(namespace, (String) names.next()));
        }
        return found;
    }

    public boolean dropTable(TableIdentifier table, boolean purge) {
        TableOperations operations = newTableOps(table);
        TableMetadata last = null;
        try {
            last = operations.current();
        } catch (NoSuchTableException error) {
            return false;
        } catch (org.apache.iceberg.exceptions.NotFoundException error) {
            // its metadata is gone: the entry in the Data Catalog goes too
        }
        boolean was = Boolean.TRUE.equals(IcebergOperations.ask("drop_iceberg_table", IcebergOperations.named(table.namespace().level(0), table.name())));
        if (was && purge && last != null) {
            CatalogUtil.dropTableData(operations.io(), last);
        }
        return was;
    }

    public void renameTable(TableIdentifier from, TableIdentifier to) {
        databaseOf(from.namespace());
        newTableOps(to);
        Map arguments = IcebergOperations.named(from.namespace().level(0), from.name());
        arguments.put("new_database", existing(to.namespace()));
        arguments.put("new_table", to.name());
        String refused = (String) IcebergOperations.ask("rename_iceberg_table", arguments);
        if ("missing".equals(refused)) {
            throw new NoSuchTableException("Cannot rename %s to %s. Table does not exist", new Object[] {from, to});
        }
        if ("exists".equals(refused)) {
            throw new AlreadyExistsException("Cannot rename %s to %s. Table already exists", new Object[] {from, to});
        }
    }

    // Databases

    public void createNamespace(Namespace namespace, Map metadata) {
        String database = databaseOf(namespace);
        if (IcebergOperations.ask("database", IcebergOperations.named(database, null)) != null) {
            throw new AlreadyExistsException(
                "Cannot create namespace %s because it already exists in Glue", new Object[] {namespace});
        }
        put(database, metadata);
    }

    private static void put(String database, Map metadata) {
        Map others = new HashMap(metadata);
        Map request = IcebergOperations.named(database, null);
        request.put("description", others.remove("comment"));
        request.put("location", others.remove("location"));
        request.put("properties", others);
        IcebergOperations.ask("put_database", request);
    }

    public List listNamespaces(Namespace namespace) {
        List found = new ArrayList();
        if (!namespace.isEmpty()) {
            existing(namespace);
            return found;
        }
        Iterator names = ((List) IcebergOperations.ask("databases", IcebergOperations.named(null, null))).iterator();
        while (names.hasNext()) {
            found.add(Namespace.of(new String[] {(String) names.next()}));
        }
        return found;
    }

    private String existing(Namespace namespace) {
        loadNamespaceMetadata(namespace);
        return namespace.level(0);
    }

    public Map loadNamespaceMetadata(Namespace namespace) {
        Map found = (Map) IcebergOperations.ask("database", IcebergOperations.named(databaseOf(namespace), null));
        if (found == null) {
            throw new NoSuchNamespaceException(
                "Cannot find namespace %s in the Data Catalog", new Object[] {namespace});
        }
        Map metadata = new HashMap((Map) found.get("properties"));
        putUnlessEmpty(metadata, "location", found.get("location"));
        putUnlessEmpty(metadata, "comment", found.get("description"));
        return metadata;
    }

    private static void putUnlessEmpty(Map map, String key, Object value) {
        if (value != null && value.toString().length() > 0) {
            map.put(key, value);
        }
    }

    public boolean dropNamespace(Namespace namespace) {
        String database = existing(namespace);
        if (!((List) IcebergOperations.ask("tables", IcebergOperations.named(database, null))).isEmpty()) {
            throw new NamespaceNotEmptyException(
                "Cannot drop namespace %s because it still contains tables", new Object[] {namespace});
        }
        IcebergOperations.ask("drop_database", IcebergOperations.named(database, null));
        return true;
    }

    public boolean setProperties(Namespace namespace, Map changes) {
        Map metadata = loadNamespaceMetadata(namespace);
        metadata.putAll(changes);
        put(namespace.level(0), metadata);
        return true;
    }

    public boolean removeProperties(Namespace namespace, Set names) {
        Map metadata = loadNamespaceMetadata(namespace);
        metadata.keySet().removeAll(names);
        put(namespace.level(0), metadata);
        return true;
    }

    public void close() {
        if (io != null) {
            io.close();
        }
    }
}
