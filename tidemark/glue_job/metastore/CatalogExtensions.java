package dev.tidemark.catalog;

import java.lang.reflect.Field;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogWithListener;
import org.apache.spark.sql.internal.SharedState;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/** Makes the local Data Catalog the metastore of sessions whose settings ask for it. */
public class CatalogExtensions extends AbstractFunction1 {
    /** Names the setting with which a job asks for the Data Catalog. */
    public static final String SETTING = "spark.tidemark.catalog";
    private static final int CATALOG_IS_MADE = 2;

    public Object apply(Object extensions) {
        ((SparkSessionExtensions) extensions).injectResolutionRule(new AbstractFunction1() {
            public Object apply(Object session) {
                return ruleOf((SparkSession) session);
            }
        });
        return BoxedUnit.UNIT;
    }

    static Object ruleOf(SparkSession session) {
        boolean isAsked = session.sparkContext().conf().contains(SETTING);
        if (!isAsked && !"hive".equals(session.conf().get("spark.sql.catalogImplementation", "in-memory"))) {
            return new Nothing();
        }
        install(session.sharedState(), session);
        return new HiveTables();
    }

    private static void install(SharedState state, SparkSession session) {
        try {
            Field catalog = SharedState.class.getDeclaredField("externalCatalog");
            Field made = SharedState.class.getDeclaredField("bitmap$0");
            catalog.setAccessible(true);
            made.setAccessible(true);
            ExternalCatalogWithListener current = (ExternalCatalogWithListener) catalog.get(state);
            if (current == null || !(current.unwrapped() instanceof LocalCatalog)) {
                LocalCatalog local = new LocalCatalog(
                    session.sparkContext().conf(), session.sparkContext().hadoopConfiguration());
                catalog.set(state, new ExternalCatalogWithListener(local));
                made.setByte(state, (byte) (made.getByte(state) | CATALOG_IS_MADE));
            }
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException("this Spark is not the one that the local Data Catalog knows", error);
        }
    }
}
