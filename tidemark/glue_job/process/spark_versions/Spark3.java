package dev.tidemark.jvm;

import org.apache.derby.jdbc.InternalDriver;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.Seq;
import scala.collection.immutable.Map;

/** What is written otherwise for Spark 3.5. */
public class SparkVersion {
    public static final String DERBY = "org.apache.derby.jdbc.InternalDriver";
    public static final String DERBY_DRIVER = "org.apache.derby.jdbc.AutoloadedDriver";

    /** Tells whether a Derby database was used; a look would start it, and write derby.log. */
    public static boolean isDerbyActive() {
        return InternalDriver.activeDriver() != null;
    }

    /** Returns a table whose partitions the catalog keeps. */
    public static CatalogTable table(
            TableIdentifier name, CatalogTableType type, CatalogStorageFormat storage, StructType schema,
            Option provider, Seq partitionColumns, Option buckets, String owner, long createdMs,
            Map properties, Option stats, Option viewText, Option comment, Seq none, boolean isPartitioned) {
        return new CatalogTable(
            name, type, storage, schema, provider, partitionColumns, buckets, owner, createdMs, -1L, "",
            properties, stats, viewText, comment, none, isPartitioned, true,
            scala.collection.immutable.Map$.MODULE$.empty(), Option.empty());
    }

    /** Returns a table with some parts of its own, and otherwise as another one. */
    public static CatalogTable like(
            CatalogTable table, TableIdentifier name, CatalogStorageFormat storage, Option provider, Map properties) {
        return new CatalogTable(
            name, table.tableType(), storage, table.schema(), provider, table.partitionColumnNames(),
            table.bucketSpec(), table.owner(), table.createTime(), table.lastAccessTime(), table.createVersion(),
            properties, table.stats(), table.viewText(), table.comment(), table.unsupportedFeatures(),
            table.tracksPartitionsInCatalog(), table.schemaPreservesCase(), table.ignoredProperties(),
            table.viewOriginalText());
    }

    /** Returns a value as another type, null where it cannot be one, whatever spark.sql.ansi.enabled is. */
    public static Column lenientCast(Column value, DataType type) {
        return new Column(new Cast(value.expr(), type, Option.empty(), EvalMode.LEGACY()));
    }

    /** Returns the error of a table that Spark cannot read. */
    public static Throwable refusal(String text) {
        return new IllegalArgumentException(text);
    }
}
