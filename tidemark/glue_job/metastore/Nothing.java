package dev.tidemark.catalog;

import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;

/** Changes no plan. */
public class Nothing extends Rule {
    public TreeNode apply(TreeNode plan) {
        return plan;
    }
}
