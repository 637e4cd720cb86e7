package dev.tidemark.catalog;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Finds data in lines of JSON that Spark's reader with a schema drops or reads as null.
 *
 * It accepts the same as that reader: see JacksonParser of Spark. Each file is read once, as a stream.
 */
public final class JsonLook {
    private static final int CHUNK = 1 << 20;
    private static final int SHOWN = 100;
    private static final List NOT_FINITE =
        Arrays.asList(new Object[] {"NaN", "Infinity", "+Infinity", "-Infinity", "+INF", "INF", "-INF"});

    private final JsonFactory factory = new JsonFactory();
    private final String file;
    private final Wanted record;
    private final CompressionCodecFactory codecs;
    /** The findings, by kind and column: how often, and an example. */
    private final Map found = new LinkedHashMap();

    private JsonLook(String file, Wanted record, CompressionCodecFactory codecs) {
        this.file = file;
        this.record = record;
        this.codecs = codecs;
        factory.enable(JsonParser.Feature.ALLOW_SINGLE_QUOTES);
        factory.enable(JsonParser.Feature.ALLOW_NON_NUMERIC_NUMBERS);
    }

    /**
     * Returns the findings in files, as a JSON array of [kind, column, how often, file, example].
     *
     * "broken" are lines that are not a JSON object or array of objects, "several" lines with more
     * after their first value, "text" strings in a column of numbers or booleans, "value" other
     * values that are not of the type of their column, "case" fields that differ from a column in
     * their case, "folder" fields with another value than the folder of their name.
     *
     * @param files JSON array of paths.
     * @param columns JSON of the type of a record: of a struct an object with the types of its
     *     fields, of an array or map ["array" or "map", type of its values], of a partition key "folder", else its name.
     */
    public static String look(String files, String columns) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        List paths = (List) mapper.readValue(files, List.class);
        final Wanted record = new Wanted("", mapper.readValue(columns, Object.class));
        ExecutorService pool = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        // Once for all files: it reads the settings of Hadoop.
        CompressionCodecFactory codecs = new CompressionCodecFactory(new Configuration());
        List looks = new ArrayList();
        try {
            for (int i = 0; i < paths.size(); i++) {
                final JsonLook look = new JsonLook((String) paths.get(i), record, codecs);
                looks.add(pool.submit(new Callable() {
                    public Object call() throws Exception {
                        return look.whole();
                    }
                }));
            }
            Map all = new LinkedHashMap();
            for (int i = 0; i < looks.size(); i++) {
                add(all, (Map) ((Future) looks.get(i)).get());
            }
            return mapper.writeValueAsString(new ArrayList(all.values()));
        } finally {
            pool.shutdownNow();
        }
    }

    private static void add(Map all, Map more) {
        Iterator each = more.entrySet().iterator();
        while (each.hasNext()) {
            Map.Entry one = (Map.Entry) each.next();
            Object[] before = (Object[]) all.get(one.getKey());
            Object[] now = (Object[]) one.getValue();
            if (before == null) {
                all.put(one.getKey(), now);
            } else {
                before[2] = new Long(((Long) before[2]).longValue() + ((Long) now[2]).longValue());
            }
        }
    }

    /** Returns the findings in the file. */
    private Map whole() throws IOException {
        InputStream opened = new FileInputStream(file);
        try {
            CompressionCodec codec = codecs.getCodec(new Path(file));
            lines(codec == null ? opened : codec.createInputStream(opened));
        } finally {
            opened.close();
        }
        return found;
    }

    /** Lines end as those of Hadoop: with LF, CR, or both. */
    private void lines(InputStream content) throws IOException {
        byte[] bytes = new byte[CHUNK];
        int end = 0;
        while (true) {
            int count = content.read(bytes, end, bytes.length - end);
            int begin = 0;
            for (int place = end; place < end + count; place++) {
                if (bytes[place] == '\n' || bytes[place] == '\r') {
                    line(bytes, begin, place);
                    begin = place + 1;
                }
            }
            if (count < 0) {
                line(bytes, 0, end);
                return;
            }
            end = end + count - begin;
            byte[] next = end > bytes.length / 2 ? new byte[bytes.length * 2] : bytes;
            System.arraycopy(bytes, begin, next, 0, end);
            bytes = next;
        }
    }

    private void line(byte[] bytes, int begin, int end) {
        int first = begin;
        while (first < end && (bytes[first] == ' ' || bytes[first] == '\t')) {
            first++;
        }
        if (first == end) {
            return;
        }
        try {
            JsonParser parser = factory.createParser(bytes, begin, end - begin);
            JsonToken token = parser.nextToken();
            if (token == JsonToken.START_ARRAY) {
                for (token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
                    record(parser, token);
                }
            } else if (token != null) {
                record(parser, token);
            }
            if (hasMore(parser)) {
                note("several", "", text(bytes, begin, end));
            }
        } catch (IOException error) {
            note("broken", "", text(bytes, begin, end));
        }
    }

    private static boolean hasMore(JsonParser parser) {
        try {
            return parser.nextToken() != null;
        } catch (IOException error) {
            return true;
        }
    }

    private void record(JsonParser parser, JsonToken token) throws IOException {
        if (token == JsonToken.START_OBJECT) {
            fields(parser, record, false);
        } else if (token != JsonToken.VALUE_NULL) {
            throw new JsonParseException(parser, "a record is not an object");
        }
    }

    private void fields(JsonParser parser, Wanted wanted, boolean isMap) throws IOException {
        JsonToken token = parser.nextToken();
        while (token == JsonToken.FIELD_NAME) {
            String name = parser.getCurrentName();
            Wanted field = isMap ? wanted.inner : (Wanted) wanted.fields.get(name);
            Wanted other = field == null ? (Wanted) wanted.lower.get(name.toLowerCase()) : null;
            token = parser.nextToken();
            if (field != null) {
                value(parser, token, field);
            } else if (other != null && other.isFolder()) {
                value(parser, token, other);
            } else {
                if (other != null && token != JsonToken.VALUE_NULL) {
                    note("case", other.path, name);
                }
                skip(parser, token);
            }
            token = parser.nextToken();
        }
        if (token != JsonToken.END_OBJECT) {
            throw new JsonParseException(parser, "an object ends early");
        }
    }

    private static void skip(JsonParser parser, JsonToken token) throws IOException {
        if (token == null) {
            throw new JsonParseException(parser, "the text ends early");
        }
        parser.skipChildren();
    }

    private void value(JsonParser parser, JsonToken token, Wanted wanted) throws IOException {
        if (token == JsonToken.START_OBJECT && (wanted.fields != null || wanted.isMap)) {
            fields(parser, wanted, wanted.isMap);
        } else if (token == JsonToken.START_ARRAY && wanted.isArray) {
            for (JsonToken one = parser.nextToken(); one != JsonToken.END_ARRAY; one = parser.nextToken()) {
                value(parser, one, wanted.inner);
            }
        } else if (token == JsonToken.VALUE_NULL || wanted.isAny || isOf(parser, token, wanted)) {
            skip(parser, token);
        } else {
            boolean isText = token == JsonToken.VALUE_STRING;
            String shown = parser.getText();
            if (wanted.isFolder()) {
                if (!isOfFolder(shown, wanted.path)) {
                    note("folder", wanted.path, cut(shown));
                }
            } else if (!isText || !shown.isEmpty()) {
                note(isText && wanted.isWithoutText() ? "text" : "value", wanted.path, cut(shown));
            }
            skip(parser, token);
        }
    }

    /** Returns whether the folder of a partition key has a value: 01 has the number 1. */
    private boolean isOfFolder(String shown, String key) {
        int begin = file.lastIndexOf("/" + key + "=") + key.length() + 2;
        int end = file.indexOf('/', begin);
        if (begin < key.length() + 2 || end < 0) {
            return false;
        }
        String value = ExternalCatalogUtils.unescapePathName(file.substring(begin, end));
        return value.equals(shown) || digits(value).equals(digits(shown));
    }

    private static String digits(String number) {
        return number.matches("[0-9]+") ? number.replaceFirst("^0+(?=.)", "") : number;
    }

    /** Returns whether Spark accepts a value, unconverted, for its column. */
    private static boolean isOf(JsonParser parser, JsonToken token, Wanted wanted) throws IOException {
        String kind = wanted.kind;
        boolean isInteger = token == JsonToken.VALUE_NUMBER_INT;
        boolean isNumber = isInteger || token == JsonToken.VALUE_NUMBER_FLOAT;
        boolean isText = token == JsonToken.VALUE_STRING;
        if (wanted.most != 0) {
            return isInteger && isWithin(parser, wanted.most);
        }
        if (kind.equals("boolean")) {
            return token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE;
        }
        if (kind.equals("double") || kind.equals("float")) {
            return isText ? NOT_FINITE.contains(parser.getText()) : isNumber && isFinite(parser, kind);
        }
        if (kind.equals("decimal")) {
            return (isNumber || isText) && isDecimal(parser.getText(), wanted);
        }
        if (kind.equals("string")) {
            return token != JsonToken.VALUE_NUMBER_FLOAT || isKept(parser);
        }
        if (kind.equals("binary")) {
            return isText && isBase64(parser);
        }
        if (kind.equals("date")) {
            return isText && isDate(parser.getText());
        }
        if (kind.equals("timestamp")) {
            UTF8String text = UTF8String.fromString(parser.getText());
            return (isInteger && isWithin(parser, Long.MAX_VALUE / 1000000)) // of microseconds
                || (isText && isWithDay(parser.getText())
                    && DateTimeUtils.stringToTimestamp(text, ZoneId.of("UTC")).isDefined());
        }
        return false;
    }

    /** Returns whether a string is a day; its time, which Spark drops, must be midnight. */
    private static boolean isDate(String value) {
        String text = value.trim();
        int time = Math.max(text.indexOf('T'), text.indexOf(' '));
        return DateTimeUtils.stringToDate(UTF8String.fromString(text)).isDefined()
            && (time < 0 || !text.substring(time).matches(".*[1-9].*"));
    }

    /** Returns whether a time has a day, else Spark takes today, and no parts that it leaves out. */
    private static boolean isWithDay(String text) {
        return !text.matches("\\s*T?[0-9]{1,2}:.*") && !text.matches(".*\\.[0-9]{6}[0-9]*[1-9].*");
    }

    private static boolean isWithin(JsonParser parser, long most) throws IOException {
        if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
            return false;
        }
        long number = parser.getLongValue();
        return -most - 1 <= number && number <= most;
    }

    private static boolean isFinite(JsonParser parser, String kind) throws IOException {
        String text = parser.getText();
        if (text.length() < 30 && text.indexOf('e') < 0 && text.indexOf('E') < 0) {
            return true;
        }
        double number = kind.equals("float") ? parser.getFloatValue() : parser.getDoubleValue();
        boolean isLost = Double.isInfinite(number) || (number == 0 && new BigDecimal(text).signum() != 0);
        return NOT_FINITE.contains(text) || !isLost;
    }

    /** Returns whether Spark's string of a number is the same number: it goes through a double. */
    private static boolean isKept(JsonParser parser) throws IOException {
        String text = parser.getText();
        if (NOT_FINITE.contains(text)) {
            return true;
        }
        double number = parser.getDoubleValue();
        return !Double.isInfinite(number)
            && (text.length() <= 16 && text.indexOf('e') < 0 && text.indexOf('E') < 0
                || new BigDecimal(text).compareTo(new BigDecimal(Double.toString(number))) == 0);
    }

    private static boolean isBase64(JsonParser parser) {
        try {
            parser.getText(); // else a text that is no Base64 is cut
            return parser.getBinaryValue() != null;
        } catch (IOException error) {
            return false;
        }
    }

    /** Returns whether a string is a decimal of the type that Spark does not round. */
    private static boolean isDecimal(String text, Wanted wanted) {
        if (text.indexOf(',') >= 0 && !text.matches("[+-]?[0-9]{1,3}(,[0-9]{3})+(\\.[0-9]*)?")) {
            return false; // Spark drops each comma, so that 1,5 is 15
        }
        try {
            BigDecimal number = new BigDecimal(text.replace(",", "")).stripTrailingZeros();
            long whole = (long) number.precision() - number.scale();
            return number.signum() == 0
                || (number.scale() <= wanted.scale && whole <= wanted.precision - wanted.scale);
        } catch (NumberFormatException error) {
            return false;
        }
    }

    private void note(String what, String column, String example) {
        String key = what + " " + column;
        Object[] before = (Object[]) found.get(key);
        if (before == null) {
            found.put(key, new Object[] {what, column, new Long(1), file, example});
        } else {
            before[2] = new Long(((Long) before[2]).longValue() + 1);
        }
    }

    private static String text(byte[] bytes, int begin, int end) {
        return cut(new String(bytes, begin, Math.min(end - begin, 4 * SHOWN), StandardCharsets.UTF_8));
    }

    private static String cut(String text) {
        return text.length() > SHOWN ? text.substring(0, SHOWN) : text;
    }

    /** The type of a record, a field or an element. */
    private static final class Wanted {
        private final String path;
        private String kind = "";
        private Map fields = null;
        /** The fields by their names in lower case. */
        private final Map lower = new HashMap();
        private Wanted inner = null;
        private boolean isArray = false;
        private boolean isMap = false;
        private boolean isAny = false;
        private long most = 0;
        private int precision = 10;
        private int scale = 0;

        Wanted(String path, Object type) {
            this.path = path;
            if (type instanceof Map) {
                fields = new HashMap();
                Iterator each = ((Map) type).entrySet().iterator();
                while (each.hasNext()) {
                    Map.Entry field = (Map.Entry) each.next();
                    String name = (String) field.getKey();
                    Wanted one = new Wanted(path.isEmpty() ? name : path + "." + name, field.getValue());
                    fields.put(name, one);
                    lower.put(name.toLowerCase(), one);
                }
            } else if (type instanceof List) {
                isArray = ((List) type).get(0).equals("array");
                isMap = !isArray;
                inner = new Wanted(path, ((List) type).get(1));
            } else {
                ofName((String) type);
            }
        }

        private void ofName(String name) {
            kind = name;
            if (name.equals("tinyint")) {
                most = Byte.MAX_VALUE;
            } else if (name.equals("smallint")) {
                most = Short.MAX_VALUE;
            } else if (name.equals("int") || name.equals("integer")) {
                most = Integer.MAX_VALUE;
            } else if (name.equals("bigint")) {
                most = Long.MAX_VALUE;
            } else if (name.startsWith("decimal")) {
                kind = "decimal";
                ofDecimal(name);
            } else {
                kind = name.startsWith("varchar(") || name.startsWith("char(") ? "string" : name;
                isAny = !Arrays.asList(new Object[] {
                    "boolean", "double", "float", "date", "timestamp", "string", "binary", "folder"}).contains(kind);
            }
        }

        private void ofDecimal(String name) {
            int open = name.indexOf('(');
            if (open >= 0) {
                String[] sizes = name.substring(open + 1, name.indexOf(')')).split(",");
                precision = Integer.parseInt(sizes[0].trim());
                scale = sizes.length > 1 ? Integer.parseInt(sizes[1].trim()) : 0;
            }
        }

        private boolean isFolder() {
            return kind.equals("folder");
        }

        private boolean isWithoutText() {
            return most != 0 || kind.equals("boolean") || kind.equals("double") || kind.equals("float");
        }
    }
}
