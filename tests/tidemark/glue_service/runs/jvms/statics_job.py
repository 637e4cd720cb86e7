"""Sets statics of the JVM, one at a time; prints what `Statics` tells of each, and after all."""

import json
from typing import ClassVar

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
jvm = spark.sparkContext._jvm
statics = jvm.dev.tidemark.jvm.Statics
security, manager = jvm.java.security.Security, jvm.java.sql.DriverManager
http, https = jvm.java.net.HttpURLConnection, jvm.javax.net.ssl.HttpsURLConnection
users = jvm.org.apache.hadoop.security.UserGroupInformation
dialects = jvm.org.apache.spark.sql.jdbc.JdbcDialects
levels, root = jvm.java.util.logging.Level, jvm.java.util.logging.Logger.getLogger("")
text = jvm.org.apache.hadoop.io.Text


def add_handler():
    root.addHandler(jvm.java.util.logging.ConsoleHandler())


def set_handler_level():
    root.getHandlers()[0].setLevel(levels.OFF)


class Names:
    class Java:
        implements: ClassVar = ["javax.naming.spi.InitialContextFactoryBuilder"]


CASES = {
    "a dialect": lambda: dialects.unregisterDialect(dialects.get("jdbc:derby:x")),
    "the login user": lambda: users.setLoginUser(users.createRemoteUser("somebody-else")),
    "a token": lambda: users.getLoginUser().addToken(
        text("mine"), jvm.org.apache.hadoop.security.token.Token()
    ),
    "a property": lambda: security.setProperty("networkaddress.cache.ttl", "7777"),
    "a property of one's own": lambda: security.setProperty("mine", "1"),
    "a provider": lambda: security.removeProvider("SunPCSC"),
    "login timeout": lambda: manager.setLoginTimeout(3),
    "log writer": lambda: manager.setLogWriter(jvm.java.io.PrintWriter(jvm.java.lang.System.out)),
    "a driver": lambda: manager.deregisterDriver(manager.getDriver("jdbc:derby:memory:x")),
    "a level": lambda: root.setLevel(levels.OFF),
    "a handler": add_handler,
    "the level of a handler": set_handler_level,
    "cookies": lambda: jvm.java.net.CookieHandler.setDefault(jvm.java.net.CookieManager()),
    "redirects": lambda: http.setFollowRedirects(False),
    "a proxy": lambda: jvm.java.net.ProxySelector.setDefault(None),
    "a default of connections": lambda: http.setDefaultAllowUserInteraction(True),
    "the default SSL sockets": lambda: https.setDefaultSSLSocketFactory(
        jvm.javax.net.ssl.SSLContext.getDefault().getSocketFactory()
    ),
    "the default SSL context": lambda: jvm.javax.net.ssl.SSLContext.setDefault(
        jvm.javax.net.ssl.SSLContext.getInstance("TLS")
    ),
    "standard input": lambda: jvm.java.lang.System.setIn(
        jvm.java.io.ByteArrayInputStream(bytes(1))
    ),
    "a resource": lambda: jvm.org.apache.hadoop.conf.Configuration.addDefaultResource("mine.xml"),
    "the configuration of users": lambda: users.setConfiguration(
        jvm.org.apache.hadoop.conf.Configuration()
    ),
    "a host": lambda: jvm.org.apache.hadoop.net.NetUtils.addStaticResolution("mine", "127.0.0.1"),
    "a type": lambda: jvm.org.apache.spark.sql.types.UDTRegistration.register("a.B", "c.D"),
    "a function": lambda: (
        jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin().dropFunction(
            jvm.org.apache.spark.sql.catalyst.FunctionIdentifier("upper")
        )
    ),
    "a table function": lambda: (
        jvm.org.apache.spark.sql.catalyst.analysis.TableFunctionRegistry.builtin().clear()
    ),
    "a hook": lambda: jvm.java.lang.Runtime.getRuntime().addShutdownHook(jvm.java.lang.Thread()),
    "JNDI": lambda: jvm.javax.naming.spi.NamingManager.setInitialContextFactoryBuilder(
        Names()
    ),  # the last: it has no equals
}

ensure_callback_server_started(spark.sparkContext._gateway)
statics.remember()
seen = {"nothing": statics.changed()}
spark.range(10).selectExpr("id % 2 AS k").groupBy("k").count().collect()
seen["a query"] = statics.changed()
jvm.dev.tidemark.jdbc.Watch.install()
seen["the watch of a proof"] = statics.changed()
for name, change in CASES.items():
    statics.remember()
    change()
    seen[name] = statics.changed()
print(json.dumps(seen))  # noqa: T201 (read by the test)
