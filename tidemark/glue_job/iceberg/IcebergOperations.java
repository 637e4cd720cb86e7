package dev.tidemark.catalog;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.apache.iceberg.BaseMetastoreTableOperations;
import org.apache.iceberg.MetadataUpdate;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.NoSuchIcebergTableException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileIO;

/** Reads and commits one table: a commit replaces its place of metadata in the Data Catalog, if nobody else did. */
public class IcebergOperations extends BaseMetastoreTableOperations {
    private final String fullName;
    private final String database;
    private final String table;
    private final FileIO io;

    public IcebergOperations(String fullName, String database, String table, FileIO io) {
        this.fullName = fullName;
        this.database = database;
        this.table = table;
        this.io = io;
    }

    /** Asks about the Data Catalog, also in a job whose session does not use it. */
    static Object ask(String operation, Map arguments) {
        Map request = new HashMap(arguments);
        request.put("is_glue", Boolean.TRUE);
        return LocalTables.ask(operation, request);
    }

    static Map named(String database, String table) {
        return LocalTables.named(database, table);
    }

    protected String tableName() {
        return fullName;
    }

    public FileIO io() {
        return io;
    }

    private Map found() {
        return (Map) ask("iceberg_table", named(database, table));
    }

    protected void doRefresh() {
        Map found = found();
        if (found == null) {
            if (currentMetadataLocation() != null) {
                throw new NoSuchTableException(
                    "Cannot find Glue table %s after refresh, maybe another process deleted it",
                    new Object[] {fullName});
            }
            refreshFromMetadataLocation(null);
            return;
        }
        refreshFromMetadataLocation(placeOf(found), null, 0, new Function() {
            public Object apply(Object place) {
                return read((String) place);
            }
        });
    }

    private TableMetadata read(String place) {
        try {
            return TableMetadataParser.read(io, place);
        } catch (Exception error) {
            error.printStackTrace(); // in the log: as a cause it would be reported in place of ours
            throw new NotFoundException(
                "the table %s cannot be used: its metadata %s are gone or cannot be read whole; restore a backup "
                + "that was made with --with-lake, by `tidemark home restore FILE`, or `tidemark catalog drop %s.%s` to "
                + "start it anew",
                new Object[] {fullName, place, database, table});
        }
    }

    private String placeOf(Map found) {
        if (found.get("metadata_location") == null) {
            throw new NoSuchIcebergTableException(
                "Input Glue table is not an iceberg table: %s (type=%s)",
                new Object[] {fullName, found.get("table_type")});
        }
        return (String) found.get("metadata_location");
    }

    protected void doCommit(TableMetadata base, TableMetadata metadata) {
        String place = writeNewMetadataIfRequired(base == null, metadata);
        String refused = "failed";
        try {
            refused = commit(base, metadata, place);
        } catch (NoSuchIcebergTableException error) {
            throw error;
        } catch (Exception error) { // Spark's own are checked
            refused = ""; // the metadata stay if nobody can say whether they are the table's
            if (!isCommitted(place, error)) {
                refused = "failed";
                throw LocalTables.thrown(error);
            }
        } finally {
            if (refused.length() > 0 && base != null) {
                io.deleteFile(place);
            }
        }
        refuse(refused, base == null);
    }

    /** Returns why the Data Catalog did not take the new place of metadata; empty if it did. */
    private String commit(TableMetadata base, TableMetadata metadata, String place) {
        Map found = found();
        String before = found == null ? null : placeOf(found);
        if (!Objects.equals(before, base == null ? null : base.metadataFileLocation())) {
            return "changed";
        }
        return (String) ask("commit_iceberg_table", request(found, base, metadata, place));
    }

    private boolean isCommitted(String place, Exception error) {
        try {
            Map found = found();
            return found != null && place.equals(found.get("metadata_location"));
        } catch (Exception again) {
            throw new CommitStateUnknownException(error);
        }
    }

    private Map request(Map found, TableMetadata base, TableMetadata metadata, String place) {
        Map request = named(database, table);
        request.put("version", found == null ? null : found.get("version"));
        request.put("metadata_location", place);
        request.put("previous_metadata_location", base == null ? null : base.metadataFileLocation());
        request.put("location", metadata.location());
        request.put("properties", new HashMap(metadata.properties()));
        List schemas = new ArrayList();
        schemas.add(SchemaParser.toJson(metadata.schema()));
        Iterator others = metadata.schemas().iterator();
        while (others.hasNext()) {
            Schema schema = (Schema) others.next();
            if (schema.schemaId() != metadata.currentSchemaId()) {
                schemas.add(SchemaParser.toJson(schema));
            }
        }
        request.put("schemas", schemas);
        request.put("snapshots", snapshots(metadata));
        return request;
    }

    /** Returns the snapshots that this commit adds. */
    private static List snapshots(TableMetadata metadata) {
        List added = new ArrayList();
        Iterator changes = metadata.changes().iterator();
        while (changes.hasNext()) {
            Object change = changes.next();
            if (change instanceof MetadataUpdate.AddSnapshot) {
                Snapshot snapshot = ((MetadataUpdate.AddSnapshot) change).snapshot();
                Map one = new HashMap();
                one.put("id", String.valueOf(snapshot.snapshotId()));
                one.put("parent", snapshot.parentId() == null ? null : snapshot.parentId().toString());
                one.put("at_ms", Long.valueOf(snapshot.timestampMillis()));
                one.put("operation", snapshot.operation());
                one.put("summary", snapshot.summary());
                added.add(one);
            }
        }
        return added;
    }

    private void refuse(String refused, boolean isNew) {
        if ("exists".equals(refused) || ("changed".equals(refused) && isNew)) {
            throw new AlreadyExistsException("Table already exists: %s", new Object[] {fullName});
        }
        if ("no database".equals(refused)) {
            throw new NoSuchNamespaceException(
                "Cannot create %s: the Data Catalog has no database %s", new Object[] {fullName, database});
        }
        if (refused.length() > 0) {
            throw new CommitFailedException(
                "Cannot commit %s because another process has changed it meanwhile (%s)",
                new Object[] {fullName, refused});
        }
    }
}
