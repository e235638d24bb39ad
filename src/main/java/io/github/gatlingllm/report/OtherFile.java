package io.github.gatlingllm.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.filter.FilteringParserDelegate;
import com.fasterxml.jackson.core.filter.JsonPointerBasedFilter;
import com.fasterxml.jackson.core.filter.TokenFilter;
import com.fasterxml.jackson.core.filter.TokenFilter.Inclusion;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.record.CsvRows;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.report.ExchangeFormat.ExportRow;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
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

  private static final double MICROS_PER_S = 1e6;

  /** The phase of AIPerf that is not a warm-up. */
  private static final String PROFILING = "profiling";

  /** Python writes NaN and Infinity. */
  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  /** Seconds per unit; others equal only themselves. */
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

  /** The values of the level that are not lists or objects, by what rows call them. */
  Map<String, JsonNode> facts() {
    Map<String, JsonNode> facts = new HashMap<>();
    for (ExportRow row : format.levels()) {
      JsonNode value = ExchangeFormat.at(tree, row.path().replace("*", format.mean()));
      if (row.isRead() && value.isValueNode() && !value.isNull()) {
        facts.put(row.figure(), value);
      }
    }
    return facts;
  }

  /** A finite number in the unit of the row's figure; null where there is none. */
  @Nullable Double number(JsonNode in, ExportRow row, String statistic) {
    JsonNode value = ExchangeFormat.at(in, row.path().replace("*", statistic));
    return value.isNumber() && Double.isFinite(value.doubleValue())
        ? (Double) (value.doubleValue() / row.factor() * inUnit(in, row))
        : null;
  }

  /** The unit that the file names ÷ the unit of the row. */
  private double inUnit(JsonNode in, ExportRow row) {
    for (Map.Entry<String, String> each : format.statistics().entrySet()) {
      if (each.getValue().equals(ExchangeFormat.UNIT) && row.path().contains("*")) {
        String unit = ExchangeFormat.at(in, row.path().replace("*", each.getKey())).asText("");
        Double own = UNITS.get(unit);
        Double expected = UNITS.get(row.unit());
        if (unit.isEmpty() || unit.equals(row.unit())) {
          return 1;
        }
        if (own == null || expected == null || unit.contains("/") != row.unit().contains("/")) {
          throw new IllegalArgumentException(
              "%s: %s is in '%.20s'; expected %s".formatted(file, row.path(), unit, row.unit()));
        }
        return own / expected;
      }
    }
    return 1;
  }

  // ---- requests

  /** Passes on the requests one after the other; none where the file has no values of them. */
  void requests(Consumer<JsonNode> sink) throws IOException {
    String where = format.where();
    try {
      if (where == null) {
        return;
      }
      if (where.equals(ExchangeFormat.COLUMNS)) {
        columns(sink);
      } else if (where.startsWith("lines ")) {
        Path lines = lines();
        if (lines != null) {
          pass(JSON.readerFor(JsonNode.class).readValues(lines.toFile()), sink);
        }
      } else {
        for (String path : where.replace("{level}", String.valueOf(position)).split(", ", -1)) {
          pass(list(path), sink);
        }
      }
    } catch (JsonProcessingException e) {
      throw new IOException(file + ": its requests are cut: " + oneLine(e.getOriginalMessage()), e);
    }
  }

  private static void pass(@Nullable MappingIterator<JsonNode> list, Consumer<JsonNode> sink)
      throws IOException {
    try (list) {
      while (list != null && list.hasNextValue()) {
        sink.accept(list.nextValue());
      }
    }
  }

  /** The file beside it: profile_export.jsonl, or one with the same name. */
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

  /** The i-th values of all columns are a request; none without the times of requests. */
  private void columns(Consumer<JsonNode> sink) throws IOException {
    Map<String, MappingIterator<JsonNode>> columns = new LinkedHashMap<>();
    try {
      for (ExportRow row : format.requests()) {
        MappingIterator<JsonNode> column = row.isRead() ? list(row.path()) : null;
        if (column != null) {
          columns.put(row.path(), column);
        }
      }
      boolean hasRequests = columns.containsKey("start_times") && columns.containsKey("ttfts");
      while (hasRequests) {
        ObjectNode request = JSON.createObjectNode();
        for (Map.Entry<String, MappingIterator<JsonNode>> column : columns.entrySet()) {
          if (!column.getValue().hasNextValue()) {
            return;
          }
          request.set(column.getKey(), column.getValue().nextValue());
        }
        sink.accept(request);
      }
    } finally {
      for (MappingIterator<JsonNode> column : columns.values()) {
        column.close();
      }
    }
  }

  /** The elements of the list at a path, {@code .} being the file; null where there is none. */
  private @Nullable MappingIterator<JsonNode> list(String path) throws IOException {
    TokenFilter there =
        path.equals(".")
            ? TokenFilter.INCLUDE_ALL
            : new JsonPointerBasedFilter("/" + path.replace('.', '/'));
    JsonParser json =
        new FilteringParserDelegate(
            JSON.createParser(file.toFile()), there, Inclusion.ONLY_INCLUDE_ALL, false);
    if (json.nextToken() != JsonToken.START_ARRAY) {
      json.close();
      return null;
    }
    json.clearCurrentToken();
    return JSON.readerFor(JsonNode.class).readValues(json);
  }

  // ---- records

  static double latency(Map<String, Double> values, double start) {
    Double ended = values.get("ended_s");
    return ended == null ? values.getOrDefault("latency_s", 0.0) : ended - start;
  }

  /** The numbers of a request, by what rows call them; none of a warm-up. */
  Map<String, Double> numbers(JsonNode request) {
    Map<String, Double> values = new HashMap<>();
    if (!request.at("/metadata/benchmark_phase").asText(PROFILING).equals(PROFILING)) {
      return values;
    }
    for (ExportRow row : format.requests()) {
      Double number = row.isRead() ? number(request, row, "value") : null;
      if (number != null) {
        values.put(row.figure(), number);
      }
    }
    return values;
  }

  /**
   * The request as a line of requests.jsonl; null if it is not of the load.
   *
   * @param shiftNanos added to its times
   */
  @Nullable ObjectNode line(JsonNode request, long index, LevelInfo level, long shiftNanos) {
    Map<String, Double> values = numbers(request);
    Double start = values.get("admitted_s");
    if (start == null) {
      return null;
    }
    JsonNode failure = node(request, "failure");
    JsonNode cut = node(request, "was_cancelled");
    boolean isCut = cut != null && cut.asBoolean();
    boolean isOk = !isCut && (failure == null || failure.asText().isEmpty());
    String name = level.target();
    ObjectNode line = ExchangeFormat.JSON.createObjectNode();
    line.put("request_id", name + "-" + index).put("run_id", name).put("injector", name);
    line.put("request_index", index).put("scenario", name).put("name", name).put("user_id", 0);
    line.put("target", name).put("endpoint", "").put("api", "").put("replica", name);
    line.set("model", facts().get("model"));
    line.put("stage", level.label()).put("phase", Phase.MEASURE.key());
    line.put("start_unix_ns", OtherRun.nanos(start) + shiftNanos).put("gate_wait_s", 0);
    RequestStatus status =
        isOk ? RequestStatus.COMPLETE : isCut ? RequestStatus.CANCELLED : RequestStatus.HTTP_ERROR;
    line.put("status", status.key());
    line.put("error", isOk || failure == null ? null : "%.200s".formatted(failure.asText()));
    put(line, "prompt_tokens", values.get("prompt_tokens"), 0);
    double latency = latency(values, start);
    put(line, "closed_s", latency, 9);
    if (isOk) {
      answer(line, request, values, start, latency);
    }
    return line;
  }

  /** The last value of a request that rows call so; null for none. */
  private @Nullable JsonNode node(JsonNode request, String figure) {
    JsonNode last = null;
    for (ExportRow row : format.requests()) {
      if (row.isRead() && row.figure().equals(figure)) {
        JsonNode node = ExchangeFormat.at(request, row.path());
        last = node.isMissingNode() || node.isNull() ? last : node;
      }
    }
    return last;
  }

  private void answer(
      ObjectNode line, JsonNode request, Map<String, Double> values, double start, double latency) {
    List<Double> offsets = offsets(request, values, start);
    Double ttft = offsets.isEmpty() ? values.get("ttft_s") : offsets.get(0);
    Double tokens = values.get("output_tokens");
    put(line, "ttft_s", ttft, 9);
    put(line, "ttfo_s", values.get("ttfo_s"), 9);
    put(line, "latency_s", latency, 9);
    put(line, "output_tokens", tokens, 0);
    put(line, "streamed_tokens", tokens, 0);
    line.put("token_source", RequestRecord.TokenSource.TOKENIZER.key());
    Double tpot = values.get("tpot_s");
    if (tpot == null && ttft != null && tokens != null && tokens > 1) {
      tpot = (latency - ttft) / (tokens - 1);
    }
    put(line, "tpot_s", tpot, 9);
    ArrayNode micros = line.putArray("event_offsets_us");
    double longest = 0;
    for (int i = 0; i < offsets.size(); i++) {
      micros.add(Math.round(offsets.get(i) * MICROS_PER_S));
      longest = i == 0 ? 0 : Math.max(longest, offsets.get(i) - offsets.get(i - 1));
    }
    put(line, "stall_s", offsets.size() < 2 ? null : (Double) longest, 9);
    put(line, "events", offsets.isEmpty() ? tokens : (Double) (double) offsets.size(), 0);
  }

  /** When chunks came, in seconds since the start: by the gaps between them, or by their times. */
  private List<Double> offsets(JsonNode request, Map<String, Double> values, double start) {
    List<Double> offsets = new ArrayList<>();
    for (ExportRow row : format.requests()) {
      boolean areTimes = row.figure().equals("times_s");
      if (!row.isRead() || !(areTimes || row.figure().equals("gaps_s"))) {
        continue;
      }
      Double at = areTimes ? (Double) 0.0 : values.get("ttft_s");
      JsonNode list = ExchangeFormat.at(request, row.path().replace("*", "value"));
      if (at == null || !list.isArray()) {
        continue;
      }
      if (!areTimes) {
        offsets.add(at);
      }
      for (JsonNode each : list) {
        double value = each.doubleValue() / row.factor();
        if (!each.isNumber() || !Double.isFinite(value)) {
          throw new IllegalArgumentException("a gap is not a number");
        }
        at = areTimes ? value - start : at + value;
        offsets.add(at);
      }
    }
    return offsets;
  }

  private static void put(ObjectNode line, String key, @Nullable Double value, int decimals) {
    if (value != null
        && !(value >= 0 && value <= (decimals == 0 ? RequestRecord.MAX_TOKENS : OtherRun.MAX_S))) {
      throw new IllegalArgumentException(key + " is " + value);
    }
    if (value != null) {
      line.put(key, BigDecimal.valueOf(value).setScale(decimals, RoundingMode.HALF_UP));
    }
  }
}
