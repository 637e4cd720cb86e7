package dev.tidemark.catalog;

import dev.tidemark.jvm.SparkVersion;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.BucketSpec;
import org.apache.spark.sql.catalyst.catalog.CatalogDatabase;
import org.apache.spark.sql.catalyst.catalog.CatalogStatistics;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTablePartition;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.catalog.CatalogUtils;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;
import scala.collection.JavaConverters;
import scala.collection.Seq;
import scala.collection.immutable.Map$;
import scala.math.BigInt;

/** Converts objects of Spark's catalog to maps and lists of JSON, and back. */
class SparkJson {
    static Map ofDatabase(CatalogDatabase database) {
        Map json = new HashMap();
        json.put("database", database.name());
        json.put("description", database.description());
        json.put("location", CatalogUtils.URIToString(database.locationUri()));
        json.put("properties", ofStrings(database.properties()));
        return json;
    }

    static CatalogDatabase toDatabase(Map json) {
        return new CatalogDatabase((String) json.get("database"), (String) json.get("description"),
            CatalogUtils.stringToURI((String) json.get("location")), toStrings((Map) json.get("properties")));
    }

    static Map ofTable(CatalogTable table) {
        Map json = new HashMap();
        json.put("database", table.identifier().database().get());
        json.put("table", table.identifier().table());
        json.put("type", table.tableType().name());
        json.put("provider", orNull(table.provider()));
        json.putAll(ofSchema(table.schema()));
        json.put("partition_keys", ofSeq(table.partitionColumnNames()));
        json.putAll(ofStorage(table.storage()));
        json.put("properties", ofStrings(table.properties()));
        json.put("comment", orNull(table.comment()));
        json.put("owner", table.owner());
        json.put("created_ms", Long.valueOf(table.createTime()));
        json.put("view_text", orNull(table.viewText()));
        if (table.bucketSpec().isDefined()) {
            BucketSpec buckets = (BucketSpec) table.bucketSpec().get();
            json.put("buckets", Integer.valueOf(buckets.numBuckets()));
            json.put("bucket_columns", ofSeq(buckets.bucketColumnNames()));
            json.put("sort_columns", ofSeq(buckets.sortColumnNames()));
        }
        json.putAll(ofStats(table.stats()));
        return json;
    }

    static Map ofSchema(StructType schema) {
        List columns = new ArrayList();
        StructField[] fields = schema.fields();
        for (int i = 0; i < fields.length; i++) {
            List column = new ArrayList();
            column.add(fields[i].name());
            column.add(fields[i].dataType().catalogString());
            column.add(orNull(fields[i].getComment()));
            columns.add(column);
        }
        Map json = new HashMap();
        json.put("columns", columns);
        json.put("schema", schema.json());
        return json;
    }

    static Map ofStats(Option stats) {
        Map json = new HashMap();
        if (stats.isDefined()) {
            CatalogStatistics found = (CatalogStatistics) stats.get();
            json.put("size_bytes", found.sizeInBytes().toString());
            json.put("rows", found.rowCount().isDefined() ? found.rowCount().get().toString() : null);
        }
        return json;
    }

    private static Map ofStorage(CatalogStorageFormat storage) {
        Map json = new HashMap();
        json.put("location", storage.locationUri().isDefined()
            ? CatalogUtils.URIToString((URI) storage.locationUri().get()) : null);
        json.put("input_format", orNull(storage.inputFormat()));
        json.put("output_format", orNull(storage.outputFormat()));
        json.put("serde", orNull(storage.serde()));
        json.put("options", ofStrings(storage.properties()));
        return json;
    }

    static CatalogTable toTable(Map json) {
        Option buckets = Option.empty();
        if (json.get("buckets") != null) {
            buckets = Option.apply(new BucketSpec(((Number) json.get("buckets")).intValue(),
                toSeq((List) json.get("bucket_columns")), toSeq((List) json.get("sort_columns"))));
        }
        return SparkVersion.table(
            new TableIdentifier((String) json.get("table"), Option.apply((String) json.get("database"))),
            new CatalogTableType((String) json.get("type")),
            toStorage(json),
            toSchema(json),
            Option.apply((String) json.get("provider")),
            toSeq((List) json.get("partition_keys")),
            buckets,
            (String) json.get("owner"),
            ((Number) json.get("created_ms")).longValue(),
            toStrings((Map) json.get("properties")),
            toStats(json),
            Option.apply((String) json.get("view_text")),
            Option.apply((String) json.get("comment")),
            toSeq(new ArrayList()),
            !((List) json.get("partition_keys")).isEmpty());
    }

    private static CatalogStorageFormat toStorage(Map json) {
        String location = (String) json.get("location");
        return new CatalogStorageFormat(
            location == null ? Option.empty() : Option.apply(CatalogUtils.stringToURI(location)),
            Option.apply((String) json.get("input_format")),
            Option.apply((String) json.get("output_format")),
            Option.apply((String) json.get("serde")),
            false,
            toStrings((Map) json.get("options")));
    }

    /** Takes the storage of a table, with another provider's options. */
    static CatalogStorageFormat withOptions(CatalogStorageFormat storage, Map options) {
        return new CatalogStorageFormat(storage.locationUri(), storage.inputFormat(), storage.outputFormat(),
            storage.serde(), storage.compressed(), toStrings(options));
    }

    private static StructType toSchema(Map json) {
        if (json.get("schema") != null) {
            return (StructType) DataType.fromJson((String) json.get("schema"));
        }
        StructType schema = new StructType();
        Iterator columns = ((List) json.get("columns")).iterator();
        while (columns.hasNext()) {
            List column = (List) columns.next();
            DataType type = CatalystSqlParser$.MODULE$.parseDataType((String) column.get(1));
            schema = column.get(2) == null
                ? schema.add((String) column.get(0), type, true)
                : schema.add((String) column.get(0), type, true, (String) column.get(2));
        }
        return schema;
    }

    private static Option toStats(Map json) {
        if (json.get("size_bytes") == null) {
            return Option.empty();
        }
        String rows = (String) json.get("rows");
        Option count = rows == null ? Option.empty() : Option.apply(new BigInt(new java.math.BigInteger(rows)));
        return Option.apply(new CatalogStatistics(
            new BigInt(new java.math.BigInteger((String) json.get("size_bytes"))), count, toStrings(new HashMap())));
    }

    static Map ofPartition(CatalogTablePartition partition) {
        Map json = new HashMap();
        json.put("spec", ofStrings(partition.spec()));
        json.put("location", partition.storage().locationUri().isDefined()
            ? CatalogUtils.URIToString((URI) partition.storage().locationUri().get()) : null);
        json.put("parameters", ofStrings(partition.parameters()));
        return json;
    }

    static CatalogTablePartition toPartition(Map json) {
        Map storage = new HashMap();
        storage.put("location", json.get("location"));
        storage.put("options", new HashMap());
        return new CatalogTablePartition(toStrings((Map) json.get("spec")), toStorage(storage),
            toStrings((Map) json.get("parameters")), 0L, -1L, Option.empty());
    }

    static Map ofStrings(scala.collection.Map values) {
        Map json = new HashMap();
        scala.collection.Iterator entries = values.iterator();
        while (entries.hasNext()) {
            Tuple2 entry = (Tuple2) entries.next();
            json.put(entry._1(), entry._2());
        }
        return json;
    }

    static scala.collection.immutable.Map toStrings(Map json) {
        scala.collection.immutable.Map values = Map$.MODULE$.empty();
        Iterator entries = json.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry entry = (Map.Entry) entries.next();
            values = (scala.collection.immutable.Map) values.$plus(new Tuple2(entry.getKey(), entry.getValue()));
        }
        return values;
    }

    private static List ofSeq(Seq values) {
        List json = new ArrayList();
        for (int i = 0; i < values.length(); i++) {
            json.add(values.apply(i));
        }
        return json;
    }

    private static Seq toSeq(List json) {
        return ((scala.collection.mutable.Buffer) JavaConverters.asScalaBufferConverter(json).asScala()).toList();
    }

    private static Object orNull(Option value) {
        return value.isDefined() ? value.get() : null;
    }
}
