package dev.tidemark.jvm;

import org.apache.spark.sql.catalyst.encoders.HashableWeakReference;
import org.apache.spark.util.MutableURLClassLoader;
import org.apache.spark.util.NonFateSharingLoadingCache;
import org.sparkproject.guava.cache.CacheBuilder;
import org.sparkproject.guava.cache.CacheLoader;
import org.sparkproject.guava.cache.LoadingCache;
import scala.Tuple2;

/**
 * Keeps the code that Spark has generated and compiled for queries, from one run of this JVM to the next.
 *
 * Spark's own cache is by the text and the class loader, and each Spark context makes loaders of its own. One to
 * which nobody has added a jar finds the same classes as its parent, so the text counts for that one.
 */
public class GeneratedCode extends NonFateSharingLoadingCache {
    private static final String GENERATOR = "org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator$";
    /** Those of about thirty jobs; Spark keeps 100. */
    private static final long ENTRIES = 2000;

    private GeneratedCode(LoadingCache cache) {
        super(cache);
    }

    /** Puts such a cache in place of Spark's. */
    public static void keep() throws Exception {
        final NonFateSharingLoadingCache sparks = (NonFateSharingLoadingCache) Statics.read(GENERATOR, "cache");
        CacheLoader compiler = new CacheLoader() {
            public Object load(Object key) {
                return compiled(sparks, (Tuple2) key);
            }
        };
        LoadingCache cache = CacheBuilder.newBuilder().maximumSize(ENTRIES).build(compiler);
        Statics.write(GENERATOR, "cache", new GeneratedCode(cache));
    }

    public Object get(Object key) {
        Tuple2 pair = (Tuple2) key;
        ClassLoader loader = (ClassLoader) ((HashableWeakReference) pair._1()).get();
        return super.get(new Tuple2(new HashableWeakReference(withoutEmpty(loader)), pair._2()));
    }

    /** Compiles with the loader of the key: what refers to that of a run would keep the run's jars. */
    private static Object compiled(NonFateSharingLoadingCache sparks, Tuple2 key) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader((ClassLoader) ((HashableWeakReference) key._1()).get());
        try {
            return sparks.get(key);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static ClassLoader withoutEmpty(ClassLoader loader) {
        // Spark's loader that looks into its own jars first is a class of its own.
        boolean isPlain = loader.getClass().getSimpleName().matches("(NonClosable)?MutableURLClassLoader");
        if (!isPlain || loader.getParent() == null || ((MutableURLClassLoader) loader).getURLs().length > 0) {
            return loader;
        }
        return withoutEmpty(loader.getParent());
    }
}
