package dev.tidemark.catalog;

import dev.tidemark.jvm.SparkVersion;
import java.util.Map;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.CreateTable;
import scala.Option;

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
        CatalogTable made = SparkVersion.like(
            table, table.identifier(), SparkJson.withOptions(table.storage(), (Map) found.get("options")),
            Option.apply((String) found.get("provider")), SparkJson.toStrings((Map) found.get("properties")));
        return new CreateTable(made, create.mode(), create.query());
    }

    private static CatalogTable named(CatalogTable table) {
        TableIdentifier name = new TableIdentifier(table.identifier().table(), Option.apply("default"));
        return SparkVersion.like(table, name, table.storage(), table.provider(), table.properties());
    }
}
