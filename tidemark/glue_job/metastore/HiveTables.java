package dev.tidemark.catalog;

import java.util.Map;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.CreateTable;
import scala.Option;
import scala.collection.Seq;

/** Lets a table that is declared as one of Hive (STORED AS, ROW FORMAT) be written by Spark's own writers. */
public class HiveTables extends Rule {
    public TreeNode apply(TreeNode plan) {
        if (!(plan instanceof CreateTable)) {
            return plan;
        }
        CreateTable create = (CreateTable) plan;
        CatalogTable table = create.tableDesc();
        if (table.provider().isEmpty() || !"hive".equalsIgnoreCase((String) table.provider().get())) {
            return plan;
        }
        Map json = SparkJson.ofTable(table.identifier().database().isDefined() ? table : named(table));
        Map found = (Map) LocalTables.ask("hive_table", json);
        CatalogTable made = new CatalogTable(
            table.identifier(), table.tableType(),
            SparkJson.withOptions(table.storage(), (Map) found.get("options")),
            table.schema(), Option.apply((String) found.get("provider")), table.partitionColumnNames(),
            table.bucketSpec(), table.owner(), table.createTime(), table.lastAccessTime(), table.createVersion(),
            SparkJson.toStrings((Map) found.get("properties")), table.stats(), table.viewText(), table.comment(),
            table.unsupportedFeatures(), table.tracksPartitionsInCatalog(), table.schemaPreservesCase(),
            table.ignoredProperties(), table.viewOriginalText());
        return new CreateTable(made, create.mode(), create.query());
    }

    private static CatalogTable named(CatalogTable table) {
        return new CatalogTable(
            new org.apache.spark.sql.catalyst.TableIdentifier(table.identifier().table(), Option.apply("default")),
            table.tableType(), table.storage(), table.schema(), table.provider(), table.partitionColumnNames(),
            table.bucketSpec(), table.owner(), table.createTime(), table.lastAccessTime(), table.createVersion(),
            table.properties(), table.stats(), table.viewText(), table.comment(), table.unsupportedFeatures(),
            table.tracksPartitionsInCatalog(), table.schemaPreservesCase(), table.ignoredProperties(),
            table.viewOriginalText());
    }
}
