package io.github.gatlingllm.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.record.CsvRows;
import io.github.gatlingllm.report.ExchangeFormat.ExportRow;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * A load level in a result file of another load generator. Memory is bounded by one request and by
 * what files have besides requests, not by the length of the file.
 *
 * @param tree without all but the first elements of long lists
 * @param position of the level in the file, from 0
 */
record OtherFile(Path file, ExchangeFormat format, JsonNode tree, int position) {

  private static final int MAX_KEPT = 100;

  private static final int MAX_BYTES = 16 << 20;

  /** Python writes NaN and Infinity. */
  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  /** Seconds per unit; others are only equal to themselves. */
  private static final Map<String, Double> UNITS =
      Map.of(
          "ns",
          1e-9,
          "us",
          1e-6,
          "ms",
          1e-3,
          "s",
          1.0,
          "sec",
          1.0,
          "seconds",
          1.0,
          "ms/token",
          1e-3,
          "s/token",
          1.0);

  /** The levels in a file; empty if it is not one of a known tool. Messages are one line. */
  static List<OtherFile> read(Path file) throws IOException {
    JsonNode root = tree(file);
    JsonNode first = root.isArray() ? root.path(0) : root;
    for (ExchangeFormat format : ExchangeFormat.all()) {
      if (format.keys().stream().allMatch(first::has)) {
        List<OtherFile> levels = new ArrayList<>();
        JsonNode parts = first.path("benchmarks");
        boolean areRows = format.name().endsWith("-csv");
        for (JsonNode part : parts.isArray() ? parts : areRows ? root : List.of(first)) {
          levels.add(new OtherFile(file, format, part, levels.size()));
        }
        checkVersion(file, format, first);
        return List.copyOf(levels);
      }
    }
    return List.of();
  }

  private static void checkVersion(Path file, ExchangeFormat format, JsonNode tree)
      throws IOException {
    String version = ExchangeFormat.at(tree, format.versionPath()).asText("without number");
    if (!format.versions().isEmpty() && !format.versions().contains(version)) {
      throw new IOException(
          "%s is of %s, version %.40s; expected version %s"
              .formatted(file, format.name(), version, String.join(" or ", format.versions())));
    }
  }

  private static JsonNode tree(Path file) throws IOException {
    String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
    try {
      if (name.endsWith(".json")) {
        try (JsonParser json = JSON.createParser(file.toFile())) {
          return json.nextToken() == null ? JSON.createObjectNode() : pruned(json);
        }
      }
      if (!name.matches(".*\\.(ya?ml|csv)") || Files.size(file) > MAX_BYTES) {
        return JSON.createObjectNode();
      }
      String text = new String(Files.readAllBytes(file), UTF_8);
      return name.endsWith(".csv")
          ? rows(name, text)
          : JSON.valueToTree(new Yaml(new SafeConstructor(new LoaderOptions())).load(text));
    } catch (JsonProcessingException e) {
      throw new IOException(file + " is cut or not JSON: " + oneLine(e.getOriginalMessage()), e);
    } catch (YAMLException | IllegalArgumentException | StackOverflowError e) {
      throw new IOException(file + " is not understood: " + oneLine(e.getMessage()), e);
    }
  }

  static String oneLine(@Nullable String message) {
    return "%.120s".formatted(String.valueOf(message).replaceAll("\\s+", " "));
  }

  private static JsonNode pruned(JsonParser json) throws IOException {
    if (json.currentToken() == JsonToken.START_OBJECT) {
      ObjectNode object = JSON.createObjectNode();
      while (json.nextToken() != JsonToken.END_OBJECT) {
        String key = json.currentName();
        json.nextToken();
        object.set(key, pruned(json));
      }
      return object;
    }
    if (json.currentToken() == JsonToken.START_ARRAY) {
      ArrayNode list = JSON.createArrayNode();
      while (json.nextToken() != JsonToken.END_ARRAY) {
        if (list.size() < MAX_KEPT) {
          list.add(pruned(json));
        } else {
          json.skipChildren();
        }
      }
      return list;
    }
    return json.readValueAsTree();
  }

  /** The rows of a table with three rows of headings, each as a tree by these. */
  private static ArrayNode rows(String name, String text) throws IOException {
    List<List<String>> rows = new ArrayList<>();
    CsvRows.visit(
        name,
        new BufferedReader(new StringReader(text)),
        MAX_BYTES,
        (cells, line) -> rows.add(cells));
    ArrayNode trees = JSON.createArrayNode();
    for (List<String> row : rows.subList(Math.min(3, rows.size()), rows.size())) {
      ObjectNode tree = trees.addObject();
      for (int i = 0; i < row.size(); i++) {
        ObjectNode into = tree;
        String key = "";
        for (List<String> headings : rows.subList(0, 3)) {
          String heading = i < headings.size() ? headings.get(i) : "";
          if (!key.isEmpty() && !heading.isEmpty()) {
            into = into.get(key) instanceof ObjectNode known ? known : into.putObject(key);
          }
          key = heading.isEmpty() ? key : heading;
        }
        into.set(key, cell(row.get(i)));
      }
    }
    return trees;
  }

  /** Lists, objects and numbers are JSON, everything else a text. */
  private static JsonNode cell(String text) {
    try {
      return text.matches("(?s)[\\[{\\d-].*") ? JSON.readTree(text) : JSON.valueToTree(text);
    } catch (JsonProcessingException e) {
      return JSON.valueToTree(text);
    }
  }

  // ---- values

  /** A finite number in the unit of the row's figure; null where there is none. */
  @Nullable Double number(JsonNode in, ExportRow row, String statistic) throws IOException {
    JsonNode value = ExchangeFormat.at(in, row.path().replace("*", statistic));
    return value.isNumber() && Double.isFinite(value.doubleValue())
        ? (Double) (value.doubleValue() / row.factor() * inUnit(in, row))
        : null;
  }

  /** The unit that the file names ÷ the unit of the row. */
  private double inUnit(JsonNode in, ExportRow row) throws IOException {
    for (Map.Entry<String, String> each : format.statistics().entrySet()) {
      if (each.getValue().equals(ExchangeFormat.UNIT) && row.path().contains("*")) {
        String unit = ExchangeFormat.at(in, row.path().replace("*", each.getKey())).asText("");
        Double own = UNITS.get(unit);
        Double expected = UNITS.get(row.unit());
        if (unit.isEmpty() || unit.equals(row.unit())) {
          return 1;
        }
        if (own == null || expected == null || unit.contains("/") != row.unit().contains("/")) {
          throw new IOException(
              "%s: %s is in '%.20s'; expected %s".formatted(file, row.path(), unit, row.unit()));
        }
        return own / expected;
      }
    }
    return 1;
  }

  // ---- requests

  /** The requests of a level, one after the other. */
  interface Requests extends Closeable {
    @Nullable JsonNode next() throws IOException;
  }

  /** Null where the file has no values of requests. */
  @Nullable Requests requests() throws IOException {
    String where = format.where();
    if (where == null) {
      return null;
    }
    if (where.equals(ExchangeFormat.COLUMNS)) {
      return columns();
    }
    if (where.startsWith("lines ")) {
      Path lines = lines();
      return lines == null
          ? null
          : inRow(List.of(JSON.readerFor(JsonNode.class).readValues(lines.toFile())));
    }
    List<MappingIterator<JsonNode>> lists = new ArrayList<>();
    for (String path : where.replace("{level}", String.valueOf(position)).split(", ", -1)) {
      MappingIterator<JsonNode> list = list(path);
      if (list != null) {
        lists.add(list);
      }
    }
    return lists.isEmpty() ? null : inRow(lists);
  }

  /** The file beside it: profile_export.jsonl, or by its own name. */
  private @Nullable Path lines() {
    String name = file.getFileName().toString().replaceFirst("\\.json$", "");
    for (String other : List.of(name, name.replaceFirst("_aiperf$", ""), name + "-requests")) {
      Path lines = file.resolveSibling(other + ".jsonl");
      if (Files.isRegularFile(lines)) {
        return lines;
      }
    }
    return null;
  }

  private static Requests inRow(List<MappingIterator<JsonNode>> lists) {
    return new Requests() {
      private int at;

      @Override
      public @Nullable JsonNode next() throws IOException {
        for (; at < lists.size(); at++) {
          if (lists.get(at).hasNextValue()) {
            return lists.get(at).nextValue();
          }
        }
        return null;
      }

      @Override
      public void close() throws IOException {
        for (MappingIterator<JsonNode> list : lists) {
          list.close();
        }
      }
    };
  }

  /** The i-th values of all columns are a request; null without the times of requests. */
  private @Nullable Requests columns() throws IOException {
    Map<String, MappingIterator<JsonNode>> columns = new LinkedHashMap<>();
    for (ExportRow row : format.requests()) {
      MappingIterator<JsonNode> column = row.isRead() ? list(row.path()) : null;
      if (column != null) {
        columns.put(row.path(), column);
      }
    }
    Requests requests =
        new Requests() {
          @Override
          public @Nullable JsonNode next() throws IOException {
            ObjectNode request = JSON.createObjectNode();
            for (Map.Entry<String, MappingIterator<JsonNode>> column : columns.entrySet()) {
              if (!column.getValue().hasNextValue()) {
                return null;
              }
              request.set(column.getKey(), column.getValue().nextValue());
            }
            return request;
          }

          @Override
          public void close() throws IOException {
            for (MappingIterator<JsonNode> column : columns.values()) {
              column.close();
            }
          }
        };
    if (!columns.containsKey("start_times") || !columns.containsKey("ttfts")) {
      requests.close();
      return null;
    }
    return requests;
  }

  /** The elements of the list at a path, {@code .} being the file; null where there is none. */
  private @Nullable MappingIterator<JsonNode> list(String path) throws IOException {
    JsonParser json = JSON.createParser(file.toFile());
    json.nextToken();
    for (String step : path.equals(".") ? new String[0] : path.split("\\.", -1)) {
      if (!advance(json, step)) {
        json.close();
        return null;
      }
    }
    if (json.currentToken() != JsonToken.START_ARRAY) {
      json.close();
      return null;
    }
    json.clearCurrentToken();
    return JSON.readerFor(JsonNode.class).readValues(json);
  }

  private static boolean advance(JsonParser json, String step) throws IOException {
    boolean isList = json.currentToken() == JsonToken.START_ARRAY;
    if (!isList && json.currentToken() != JsonToken.START_OBJECT) {
      return false;
    }
    for (int i = 0; ; i++) {
      JsonToken token = json.nextToken();
      if (token == null || token == JsonToken.END_OBJECT || token == JsonToken.END_ARRAY) {
        return false;
      }
      boolean isHere = isList ? step.equals(String.valueOf(i)) : step.equals(json.currentName());
      if (!isList) {
        json.nextToken();
      }
      if (isHere) {
        return true;
      }
      json.skipChildren();
    }
  }
}
