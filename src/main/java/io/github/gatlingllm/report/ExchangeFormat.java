package io.github.gatlingllm.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.record.RunFiles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A format of {@code exchange.txt}, whose first lines state how a row is written.
 *
 * @param file its name with {@code {level}}; empty for formats that are only read
 * @param keys that a file of the format has
 * @param versions that are known, at {@code versionPath}; empty where files have no version
 * @param statistics ours by their names in the file; {@code unit} stands for the unit
 * @param levels rows of a load level
 * @param where the values of single requests are; null where a file has none
 * @param requests rows of a request
 */
record ExchangeFormat(
    String name,
    String file,
    List<String> keys,
    String versionPath,
    List<String> versions,
    Map<String, String> statistics,
    List<ExportRow> levels,
    @Nullable String where,
    List<ExportRow> requests) {

  static final ObjectMapper JSON = JsonMapper.builder().build();

  static final String UNIT = "unit";

  static final String COLUMNS = "columns";

  private static final Map<String, ExchangeFormat> ALL = read();

  /**
   * A value of a file.
   *
   * @param way {@code >} is only written, {@code <} only read
   * @param factor the value in the file ÷ the figure
   * @param differs what the tool counts otherwise; empty for nothing
   */
  record ExportRow(
      char way, String path, String figure, double factor, String unit, String differs) {

    private static ExportRow parse(String line) {
      boolean isOneWay = line.startsWith("> ") || line.startsWith("< ");
      List<String> cells =
          new ArrayList<>(
              Arrays.stream(line.substring(isOneWay ? 2 : 0).split("\\|", -1))
                  .map(String::strip)
                  .toList());
      cells.addAll(List.of("", "", ""));
      return new ExportRow(
          isOneWay ? line.charAt(0) : ' ',
          cells.get(0),
          cells.get(1),
          cells.get(2).isEmpty() ? 1 : Double.parseDouble(cells.get(2)),
          cells.get(3),
          cells.get(4));
    }

    /** The text in quotes that it has in place of a figure; null for none. */
    @Nullable JsonNode text() {
      return figure.startsWith("\"")
          ? JSON.getNodeFactory().textNode(figure.substring(1, figure.length() - 1))
          : null;
    }

    boolean isWritten() {
      return way != '<';
    }

    boolean isRead() {
      return way != '>';
    }

    /** The path without the mark of an object that may be omitted. */
    String plainPath() {
      return path.replace("!", "");
    }

    /** The path of the object to leave out where the value is not known; null for none. */
    @Nullable String optional() {
      int end = path.indexOf('!');
      return end < 0 ? null : path.substring(0, end);
    }
  }

  static Iterable<ExchangeFormat> all() {
    return ALL.values();
  }

  static ExchangeFormat of(String name) {
    return Objects.requireNonNull(ALL.get(name), name);
  }

  private static Map<String, ExchangeFormat> read() {
    Map<String, ExchangeFormat> all = new LinkedHashMap<>();
    ExchangeFormat last = null;
    for (String line :
        RunFiles.resource(ExchangeFormat.class, "exchange.txt")
            .lines()
            .map(String::strip)
            .toList()) {
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      if (line.startsWith("format ")) {
        last = named(line.substring("format ".length()));
      } else if (line.startsWith("statistics ")) {
        for (String each : line.substring("statistics ".length()).split(";", -1)) {
          String[] sides = each.split("=", -1);
          Objects.requireNonNull(last)
              .statistics
              .put(sides[0].strip(), sides[sides.length - 1].strip());
        }
      } else if (line.startsWith("requests ")) {
        last = Objects.requireNonNull(last).with(line.substring("requests ".length()));
      } else {
        ExchangeFormat of = Objects.requireNonNull(last);
        (of.where == null ? of.levels : of.requests).add(ExportRow.parse(line));
      }
      all.put(Objects.requireNonNull(last).name, last);
    }
    return all;
  }

  private static ExchangeFormat named(String line) {
    String[] cells = Arrays.stream(line.split("\\|", -1)).map(String::strip).toArray(String[]::new);
    String[] version = cells[3].split(": ", -1);
    return new ExchangeFormat(
        cells[0],
        cells[1],
        List.of(cells[2].split(", ", -1)),
        version[0],
        version.length < 2 ? List.of() : List.of(version[1].split(", ", -1)),
        new LinkedHashMap<>(),
        new ArrayList<>(),
        null,
        new ArrayList<>());
  }

  private ExchangeFormat with(String requestsAt) {
    return new ExchangeFormat(
        name, file, keys, versionPath, versions, statistics, levels, requestsAt, requests);
  }

  /** What its files call a mean. */
  String mean() {
    return statistics.entrySet().stream()
        .filter(each -> each.getValue().equals("mean"))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse("mean");
  }

  // ---- paths

  /** The value at a path with dots; numbers are positions, {@code last} the last one. */
  static JsonNode at(JsonNode tree, String path) {
    JsonNode node = tree;
    for (String step : path.split("\\.", -1)) {
      node =
          !node.isArray()
              ? node.path(step)
              : step.equals("last")
                  ? node.path(node.size() - 1)
                  : step.matches("\\d{1,9}")
                      ? node.path(Integer.parseInt(step))
                      : MissingNode.getInstance();
    }
    return node;
  }

  /** Puts a value at a path; what is missing on the way is created. */
  static void put(ObjectNode tree, String path, JsonNode value) {
    String[] steps = path.split("\\.", -1);
    JsonNode node = tree;
    for (int i = 0; i < steps.length; i++) {
      boolean isLast = i == steps.length - 1;
      boolean isInList = !isLast && steps[i + 1].matches("\\d+|last");
      if (node instanceof ArrayNode list) {
        if (list.isEmpty()) {
          list.add(isInList ? JSON.createArrayNode() : JSON.createObjectNode());
        }
        node = list.get(0);
      } else if (node instanceof ObjectNode object) {
        if (isLast) {
          object.set(steps[i], value);
        } else if (!object.has(steps[i])) {
          object.set(steps[i], isInList ? JSON.createArrayNode() : JSON.createObjectNode());
        }
        node = object.path(steps[i]);
      }
    }
  }
}
