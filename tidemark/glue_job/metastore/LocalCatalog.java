package dev.tidemark.catalog;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.catalyst.analysis.NoSuchPartitionException;
import org.apache.spark.sql.catalyst.analysis.PartitionsAlreadyExistException;
import org.apache.spark.sql.catalyst.catalog.CatalogFunction;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTablePartition;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils;
import scala.Option;
import scala.collection.Seq;

/** Spark's external catalog over the local Data Catalog: its partitions, besides databases and tables. */
public class LocalCatalog extends LocalTables {
    public LocalCatalog(SparkConf conf, Configuration hadoop) {
        super(conf, hadoop);
    }

    // Partitions

    public synchronized void createPartitions(String database, String table, Seq parts, boolean ignoreIfExists) {
        CatalogTable definition = getTable(database, table);
        List added = new ArrayList();
        for (int i = 0; i < parts.length(); i++) {
            CatalogTablePartition part = stored((CatalogTablePartition) parts.apply(i));
            if (!ignoreIfExists && isRegistered(database, table, part.spec())) {
                throw thrown(new PartitionsAlreadyExistException(database, table, part.spec()));
            }
            Path folder = part.storage().locationUri().isDefined()
                ? new Path((java.net.URI) part.storage().locationUri().get())
                : ExternalCatalogUtils.generatePartitionPath(
                    part.spec(), definition.partitionColumnNames(), new Path(definition.location()));
            makeFolder(folder);
            Map json = SparkJson.ofPartition(part);
            json.put("location", folder.toString());
            added.add(json);
        }
        putPartitions(database, table, added);
    }

    public synchronized void dropPartitions(
            String database, String table, Seq specs, boolean ignoreIfNotExists, boolean purge, boolean retainData) {
        CatalogTable definition = getTable(database, table);
        boolean isManaged = definition.tableType().equals(CatalogTableType.MANAGED());
        List dropped = new ArrayList();
        for (int i = 0; i < specs.length(); i++) {
            scala.collection.immutable.Map spec =
                ExternalCatalogUtils.convertNullPartitionValues((scala.collection.immutable.Map) specs.apply(i));
            Option found = getPartitionOption(database, table, spec);
            if (found.isEmpty()) {
                if (!ignoreIfNotExists) {
                    throw thrown(new NoSuchPartitionException(database, table, spec));
                }
                continue;
            }
            if (isManaged && !retainData) {
                deleteFolder(new Path(((CatalogTablePartition) found.get()).location()));
            }
            dropped.add(SparkJson.ofStrings(spec));
        }
        Map arguments = named(database, table);
        arguments.put("specs", dropped);
        ask("drop_partitions", arguments);
    }

    public synchronized void renamePartitions(String database, String table, Seq specs, Seq newSpecs) {
        throw new UnsupportedOperationException(
            "partitions of " + database + "." + table + " cannot be renamed here: add the new one, drop the old one");
    }

    public synchronized void alterPartitions(String database, String table, Seq parts) {
        List changed = new ArrayList();
        for (int i = 0; i < parts.length(); i++) {
            CatalogTablePartition part = stored((CatalogTablePartition) parts.apply(i));
            getPartition(database, table, part.spec());
            changed.add(SparkJson.ofPartition(part));
        }
        putPartitions(database, table, changed);
    }

    private static void putPartitions(String database, String table, List partitions) {
        Map arguments = named(database, table);
        arguments.put("partitions", partitions);
        ask("put_partitions", arguments);
    }

    private static CatalogTablePartition stored(CatalogTablePartition part) {
        return part.copy(ExternalCatalogUtils.convertNullPartitionValues(part.spec()), part.storage(),
            part.parameters(), part.createTime(), part.lastAccessTime(), part.stats());
    }

    public synchronized CatalogTablePartition getPartition(
            String database, String table, scala.collection.immutable.Map spec) {
        Option found = getPartitionOption(database, table, spec);
        if (found.isEmpty()) {
            throw thrown(new NoSuchPartitionException(database, table, spec));
        }
        return (CatalogTablePartition) found.get();
    }

    public synchronized Option getPartitionOption(
            String database, String table, scala.collection.immutable.Map spec) {
        List found = partitions(database, table, Option.apply(spec));
        return found.isEmpty() ? Option.empty() : Option.apply(found.get(0));
    }

    public synchronized Seq listPartitionNames(String database, String table, Option spec) {
        Seq columns = getTable(database, table).partitionColumnNames();
        List names = new ArrayList();
        Iterator found = partitions(database, table, spec).iterator();
        while (found.hasNext()) {
            CatalogTablePartition part = (CatalogTablePartition) found.next();
            StringBuilder name = new StringBuilder();
            for (int i = 0; i < columns.length(); i++) {
                String column = (String) columns.apply(i);
                name.append(i == 0 ? "" : "/");
                name.append(ExternalCatalogUtils.getPartitionPathString(column, (String) part.spec().apply(column)));
            }
            names.add(name.toString());
        }
        java.util.Collections.sort(names);
        return scalaSeq(names);
    }

    public synchronized Seq listPartitions(String database, String table, Option spec) {
        return scalaSeq(partitions(database, table, spec));
    }

    public Seq listPartitionsByFilter(String database, String table, Seq predicates, String timeZone) {
        return ExternalCatalogUtils.prunePartitionsByFilter(
            getTable(database, table), listPartitions(database, table, Option.empty()), predicates, timeZone);
    }

    /** Returns whether a partition was registered, not only found as a folder. */
    private static boolean isRegistered(String database, String table, scala.collection.immutable.Map spec) {
        Map arguments = named(database, table);
        arguments.put("spec", SparkJson.ofStrings(spec));
        Iterator found = ((List) ask("partitions", arguments)).iterator();
        return found.hasNext() && !Boolean.TRUE.equals(((Map) found.next()).get("is_implicit"));
    }

    private List partitions(String database, String table, Option spec) {
        Map arguments = named(database, table);
        if (spec.isDefined()) {
            arguments.put("spec", SparkJson.ofStrings(ExternalCatalogUtils.convertNullPartitionValues(
                (scala.collection.immutable.Map) spec.get())));
        }
        List partitions = new ArrayList();
        Iterator found = ((List) ask("partitions", arguments)).iterator();
        while (found.hasNext()) {
            partitions.add(SparkJson.toPartition((Map) found.next()));
        }
        return partitions;
    }

    // Functions of SQL are not kept

    public void createFunction(String database, CatalogFunction function) {
        throw new UnsupportedOperationException(
            "functions are not kept in the local Data Catalog: use CREATE TEMPORARY FUNCTION, or spark.udf.register");
    }

    public synchronized boolean functionExists(String database, String name) {
        return false;
    }

    public synchronized Seq listFunctions(String database, String pattern) {
        return scalaSeq(new ArrayList());
    }
}
