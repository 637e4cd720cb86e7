package dev.tidemark.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;

/**
 * Says of JSON which kinds of values it has at each path, and marks its strings.
 *
 * Spark reads the string "1" and the number 1 as the same string; Glue's choices distinguish them. It
 * accepts the same as Spark's reader of JSON. For SQL's reflect, so the methods are static.
 *
 * Written for the compiler that Spark ships (Janino), which has no generics and no lambdas.
 */
public final class JsonKinds {
    /** The result of `kinds` for a string that is not JSON, is too deep, or has records that are not objects. */
    public static final String BROKEN = "!";

    private static final String BLANK = " \t\r\n";
    private static final JsonFactory FACTORY = factory();

    private JsonKinds() {}

    private static JsonFactory factory() {
        JsonFactory factory = new JsonFactory();
        factory.enable(JsonParser.Feature.ALLOW_SINGLE_QUOTES);
        factory.enable(JsonParser.Feature.ALLOW_NON_NUMERIC_NUMBERS);
        return factory;
    }

    /**
     * Returns the kinds of all records in a string, as JSON: of a value the letters of its kinds, of
     * one with parts the letters, the most digits of an integer, the fields and the elements.
     *
     * The letters: i int, l long, n an integer beyond long, d double, b boolean, s string, o object,
     * a array, z null (of a text: in its array), ? not in every object (of a field), + more than one
     * value (of a text), = several times in one object (of a field), x a number that is beyond the type
     * for it, r a fraction with digits that a double does not hold, u a string or name with half of a surrogate pair, which no UTF-8 holds.
     */
    public static String kinds(String text) {
        try {
            Kinds found = new Kinds(text.indexOf("\\u") >= 0);
            JsonParser parser = FACTORY.createParser(withoutMark(text));
            int values = 0;
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                values++;
                if (values == 2) {
                    found.has('+');
                }
                if (token == JsonToken.START_ARRAY) {
                    token = parser.nextToken();
                    while (token != JsonToken.END_ARRAY) {
                        if (token == JsonToken.VALUE_NULL) {
                            found.has('z');
                            found.has('+'); // Spark's reader of files fails at it
                        } else {
                            addRecord(found, parser, token);
                        }
                        token = parser.nextToken();
                    }
                } else {
                    addRecord(found, parser, token);
                }
            }
            StringWriter written = new StringWriter();
            JsonGenerator generator = FACTORY.createGenerator(written);
            found.write(generator);
            generator.close();
            return written.toString();
        } catch (IOException error) {
            return BROKEN;
        }
    }

    /**
     * Returns whether a string has at most one value, so that Spark's reader of JSON drops nothing.
     *
     * If the first value is broken, that reader itself reports it.
     */
    public static boolean isOne(String text) {
        if (isOneByBrackets(text)) {
            return true;
        }
        boolean hasFirst = false;
        try {
            JsonParser parser = FACTORY.createParser(withoutMark(text));
            parser.nextToken();
            parser.skipChildren();
            hasFirst = true;
            return parser.nextToken() == null;
        } catch (IOException error) {
            return !hasFirst;
        }
    }

    /** Returns whether a string is one value by its brackets and quotes alone; false may be either. */
    private static boolean isOneByBrackets(String text) {
        int depth = 0;
        boolean isInString = false;
        for (int place = 0; place < text.length(); place++) {
            char one = text.charAt(place);
            if (isInString) {
                if (one == '\\') {
                    place++;
                } else if (one == '"') {
                    isInString = false;
                }
            } else if (one == '"') {
                isInString = true;
            } else if (one == '{' || one == '[') {
                depth++;
            } else if (one == '}' || one == ']') {
                depth--;
                if (depth == 0) {
                    return isBlank(text, place + 1);
                }
            } else if (one == '\'' || (depth == 0 && BLANK.indexOf(one) < 0)) {
                return false;
            }
        }
        return false;
    }

    private static boolean isBlank(String text, int from) {
        for (int place = from; place < text.length(); place++) {
            if (BLANK.indexOf(text.charAt(place)) < 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns whether a file has at most one value, as `isOne` does for a string.
     *
     * It may be compressed with any codec of Hadoop, and is never in memory as a whole.
     */
    public static boolean isOneFile(String path) throws IOException {
        boolean hasFirst = false;
        InputStream file = new FileInputStream(path);
        try {
            CompressionCodec codec = new CompressionCodecFactory(new Configuration()).getCodec(new Path(path));
            InputStream content = codec == null ? file : codec.createInputStream(file);
            JsonParser parser = FACTORY.createParser(content);
            parser.nextToken();
            parser.skipChildren();
            hasFirst = true;
            return parser.nextToken() == null;
        } catch (JsonProcessingException error) {
            return !hasFirst;
        } finally {
            file.close();
        }
    }

    /**
     * Returns the first value of a string, from which Spark's reader infers the schema.
     *
     * Where there are more, it is in an array, with an object that has the mark as its only field.
     */
    public static String first(String text, String mark) {
        if (isOne(text)) {
            return withoutMark(text);
        }
        String all = withoutMark(text);
        try {
            JsonParser parser = FACTORY.createParser(all);
            JsonToken token = parser.nextToken();
            boolean isArray = token == JsonToken.START_ARRAY;
            int begin = (int) parser.getTokenLocation().getCharOffset();
            parser.skipChildren();
            String value = all.substring(begin, (int) parser.getCurrentLocation().getCharOffset());
            String inside = isArray ? value.substring(1, value.length() - 1).trim() : value;
            String marked = "{\"" + mark + "\":0}";
            return "[" + (inside.isEmpty() ? marked : inside + "," + marked) + "]";
        } catch (IOException error) {
            return text;
        }
    }

    /**
     * Returns the records of a string as an array; if a value after the first is not a record, the rest
     * from there, which is not a JSON object either.
     */
    public static String separated(String text) {
        if (isOne(text)) {
            return withoutMark(text);
        }
        String all = withoutMark(text);
        long end = 0;
        try {
            JsonParser parser = FACTORY.createParser(all);
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token != JsonToken.START_OBJECT && token != JsonToken.START_ARRAY) {
                    throw new JsonParseException(parser, "a record is not an object");
                }
                parser.skipChildren();
                end = parser.getCurrentLocation().getCharOffset();
            }
        } catch (IOException error) {
            return all.substring((int) end);
        }
        return marked(all, "");
    }

    /** Returns `BROKEN` for a string that is not JSON of records, "+" for several values, else nothing. */
    public static String state(String text) {
        int values = 0;
        try {
            JsonParser parser = FACTORY.createParser(withoutMark(text));
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                values++;
                if (token != JsonToken.START_ARRAY) {
                    skipRecord(parser, token);
                    continue;
                }
                for (token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
                    if (token != JsonToken.VALUE_NULL) {
                        skipRecord(parser, token);
                    }
                }
            }
        } catch (IOException error) {
            return BROKEN;
        }
        return values > 1 ? "+" : "";
    }

    private static void skipRecord(JsonParser parser, JsonToken token) throws IOException {
        if (token != JsonToken.START_OBJECT) {
            throw new JsonParseException(parser, "a record is not an object");
        }
        parser.skipChildren();
    }

    private static void addRecord(Kinds found, JsonParser parser, JsonToken token) throws IOException {
        if (token != JsonToken.START_OBJECT) {
            throw new JsonParseException(parser, "a record is not an object");
        }
        found.add(parser, token);
    }

    /**
     * Returns a string as one JSON value with a mark before each inner string; several records are an array.
     *
     * Numbers keep their digits, a record that is null is dropped. A string that is not JSON is returned as it
     * is.
     */
    public static String marked(String text, String mark) {
        try {
            JsonParser parser = FACTORY.createParser(withoutMark(text));
            StringWriter written = new StringWriter(text.length() + 64);
            JsonGenerator generator = FACTORY.createGenerator(written);
            generator.setPrettyPrinter(new MinimalPrettyPrinter(","));
            int values = 0;
            boolean isInArray = false;
            boolean isSeveral = false;
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token == JsonToken.START_ARRAY && !isInArray) {
                    isInArray = true;
                    isSeveral = true;
                } else if (token == JsonToken.END_ARRAY) {
                    isInArray = false;
                } else if (token != JsonToken.VALUE_NULL) {
                    values++;
                    copy(parser, token, generator, mark, 0);
                }
            }
            generator.close();
            return isSeveral || values > 1 ? "[" + written.toString() + "]" : written.toString();
        } catch (IOException error) {
            return text;
        }
    }

    /** Returns one JSON value without the marks of a length before its strings. */
    public static String unmarked(String text, int length) {
        try {
            JsonParser parser = FACTORY.createParser(text);
            StringWriter written = new StringWriter(text.length());
            JsonGenerator generator = FACTORY.createGenerator(written);
            copy(parser, parser.nextToken(), generator, "", length);
            generator.close();
            return written.toString();
        } catch (IOException error) {
            return text;
        }
    }

    private static void copy(
            JsonParser parser, JsonToken token, JsonGenerator to, String mark, int leftOut)
            throws IOException {
        if (token == JsonToken.START_OBJECT) {
            to.writeStartObject();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                to.writeFieldName(parser.getCurrentName());
                copy(parser, parser.nextToken(), to, mark, leftOut);
            }
            to.writeEndObject();
        } else if (token == JsonToken.START_ARRAY) {
            to.writeStartArray();
            for (JsonToken one = parser.nextToken(); one != JsonToken.END_ARRAY; one = parser.nextToken()) {
                copy(parser, one, to, mark, leftOut);
            }
            to.writeEndArray();
        } else if (token == JsonToken.VALUE_STRING) {
            to.writeString(mark + parser.getText().substring(leftOut));
        } else {
            to.writeRawValue(parser.getText());
        }
    }

    /** Returns a string without the byte order mark that a whole file may start with. */
    private static String withoutMark(String text) {
        return text.length() > 0 && text.charAt(0) == '\uFEFF' ? text.substring(1) : text;
    }

    /** The kinds of values at one path. */
    private static final class Kinds {
        private static final int MAX_DEPTH = 100; // Python follows types by recursion
        private static final int DOUBLE_DIGITS = 15; // that a double always holds
        private static final int MAX_DIGITS = 38; // of a decimal of Spark
        private static final String LETTERS = "ilndbsoaz?+=xur";

        private final boolean hasEscapes;
        private int kinds = 0;
        private int digits = 0;
        private Map fields = null;
        private Kinds elements = null;
        private int objects = 0;
        private int last = 0;

        Kinds(boolean hasEscapes) {
            this.hasEscapes = hasEscapes;
        }

        void add(JsonParser parser, JsonToken token) throws IOException {
            if (token == JsonToken.VALUE_STRING) {
                has('s');
                if (hasEscapes && hasHalf(parser.getText())) {
                    has('u');
                }
            } else if (token == JsonToken.VALUE_NUMBER_INT) {
                addInteger(parser);
            } else if (token == JsonToken.VALUE_NUMBER_FLOAT) {
                has('d');
                addFraction(parser);
            } else if (token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE) {
                has('b');
            } else if (token == JsonToken.START_OBJECT) {
                addObject(parser);
            } else if (token == JsonToken.START_ARRAY) {
                addArray(parser);
            } else if (token == JsonToken.VALUE_NULL) {
                has('z');
            } else {
                throw new JsonParseException(parser, "the text ends early");
            }
        }

        private void has(char letter) {
            kinds |= 1 << LETTERS.indexOf(letter);
        }

        private static boolean hasHalf(String text) {
            return !StandardCharsets.UTF_8.newEncoder().canEncode(text);
        }

        private void addInteger(JsonParser parser) throws IOException {
            JsonParser.NumberType type = parser.getNumberType();
            if (type == JsonParser.NumberType.INT) {
                has('i');
            } else if (type == JsonParser.NumberType.LONG) {
                has('l');
            } else {
                has('n');
                int length = parser.getText().replace("-", "").length();
                digits = Math.max(digits, length);
                if (length > MAX_DIGITS) {
                    has('x');
                }
            }
        }

        private void addFraction(JsonParser parser) throws IOException {
            int length = parser.getTextLength();
            char last = parser.getTextCharacters()[parser.getTextOffset() + length - 1];
            boolean mayBe = length > DOUBLE_DIGITS || parser.getText().toLowerCase().indexOf('e') > 0;
            if (!mayBe || !Character.isDigit(last)) {
                return;
            }
            double number = parser.getDoubleValue();
            if (Double.isInfinite(number)) {
                has('x');
                return;
            }
            if (!isHeld(parser.getText(), number)) {
                has('r');
            }
        }

        /** Returns whether a double has all the digits of a text. */
        private static boolean isHeld(String text, double number) {
            try {
                BigDecimal exact = new BigDecimal(text);
                MathContext digits = new MathContext(exact.precision());
                return exact.compareTo(new BigDecimal(Double.toString(number))) == 0
                    || exact.compareTo(new BigDecimal(number).round(digits)) == 0;
            } catch (NumberFormatException error) {
                return false; // too small an exponent
            }
        }

        private static void checkDepth(JsonParser parser) throws IOException {
            if (parser.getParsingContext().getNestingDepth() > MAX_DEPTH) {
                throw new JsonParseException(parser, "values are nested too deep");
            }
        }

        private void addObject(JsonParser parser) throws IOException {
            checkDepth(parser);
            has('o');
            objects++;
            if (fields == null) {
                fields = new LinkedHashMap();
            }
            JsonToken token = parser.nextToken();
            while (token == JsonToken.FIELD_NAME) {
                String name = parser.getCurrentName();
                Kinds field = (Kinds) fields.get(name);
                if (field == null) {
                    field = new Kinds(hasEscapes);
                    if (hasEscapes && hasHalf(name)) {
                        field.has('u');
                    }
                    fields.put(name, field);
                    if (objects > 1) {
                        field.has('?');
                    }
                } else if (field.last == objects) {
                    field.has('=');
                } else if (field.last < objects - 1) {
                    field.has('?');
                }
                field.last = objects;
                field.add(parser, parser.nextToken());
                token = parser.nextToken();
            }
            if (token != JsonToken.END_OBJECT) {
                throw new JsonParseException(parser, "an object ends early");
            }
        }

        private void addArray(JsonParser parser) throws IOException {
            checkDepth(parser);
            has('a');
            if (elements == null) {
                elements = new Kinds(hasEscapes);
            }
            JsonToken token = parser.nextToken();
            while (token != JsonToken.END_ARRAY) {
                elements.add(parser, token);
                token = parser.nextToken();
            }
        }

        void write(JsonGenerator to) throws IOException {
            if (fields != null) {
                Iterator every = fields.values().iterator();
                while (every.hasNext()) {
                    Kinds field = (Kinds) every.next();
                    if (field.last < objects) {
                        field.has('?');
                    }
                }
            }
            StringBuilder letters = new StringBuilder();
            for (int place = 0; place < LETTERS.length(); place++) {
                if ((kinds & (1 << place)) != 0) {
                    letters.append(LETTERS.charAt(place));
                }
            }
            if (digits == 0 && fields == null && elements == null) {
                to.writeString(letters.toString());
                return;
            }
            to.writeStartArray();
            to.writeString(letters.toString());
            to.writeNumber(digits);
            to.writeStartObject();
            if (fields != null) {
                Iterator each = fields.entrySet().iterator();
                while (each.hasNext()) {
                    Map.Entry field = (Map.Entry) each.next();
                    to.writeFieldName((String) field.getKey());
                    ((Kinds) field.getValue()).write(to);
                }
            }
            to.writeEndObject();
            if (elements != null) {
                elements.write(to);
            }
            to.writeEndArray();
        }
    }
}
