package io.github.gatlingllm.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.TokenGaps;
import io.github.gatlingllm.report.ExchangeFormat.ExportRow;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes the results of a run in the formats of other load generators, a file per load level. */
final class Export {

  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN).build();

  private final Path requests;
  private final ExportedLevel level;

  private Export(Path requests, ExportedLevel level) {
    this.requests = requests;
    this.level = level;
  }

  /** Throws for a name that is not a format's. */
  static List<String> checked(List<String> names) {
    for (String name : names) {
      if (!RunFiles.EXPORTS.contains(name)) {
        throw new IllegalArgumentException(
            "'%.40s' is not a format; expected some of %s"
                .formatted(name, String.join(", ", RunFiles.EXPORTS)));
      }
    }
    return names;
  }

  /** Writes beside {@code summary.json}, from the records of a run whose figures these are. */
  static void write(RunFiles files, RunFigures figures, List<String> names) throws IOException {
    List<LevelFigures> stages = figures.summary().stages();
    List<ExportedLevel> levels = new ArrayList<>();
    for (int i = 0; i < stages.size(); i++) {
      if (stages.get(i).isPlanned() && stages.get(i).figures().counts().started() > 0) {
        levels.add(new ExportedLevel(figures, i));
      }
    }
    if (names.isEmpty() || levels.isEmpty()) {
      return;
    }
    var unused =
        RecordFile.read(files.requests(), record -> levels.forEach(level -> level.add(record)));
    for (ExportedLevel level : levels) {
      level.complete();
      for (String name : names) {
        new Export(files.requests(), level).write(files.folder(), ExchangeFormat.of(name));
      }
    }
  }

  private void write(Path folder, ExchangeFormat format) throws IOException {
    Path file = folder.resolve(format.file().replace("{level}", level.fileName()));
    ObjectNode tree = level.tree(format);
    if (format.file().endsWith(".yaml")) {
      StringBuilder text = new StringBuilder();
      yaml(tree, "", text);
      RunFiles.write(file, text.substring(1) + "\n");
      return;
    }
    byte[] json = JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(tree);
    if (ExchangeFormat.COLUMNS.equals(format.where())) {
      columns(file, json, format.requests());
    } else {
      RunFiles.write(file, json);
      Path lines = folder.resolve(file.getFileName().toString().replace(".json", ".jsonl"));
      RunFiles.write(lines, out -> lines(out, format));
    }
  }

  private interface RequestSink {
    void take(ObjectNode request) throws IOException;
  }

  private void replay(RequestSink sink) throws IOException {
    var unused =
        RecordFile.readLines(
            requests,
            (record, line) -> {
              if (level.isOf(record.identity())) {
                take(record, line, sink);
              }
            });
  }

  private void take(RequestRecord record, ByteBuffer line, RequestSink sink) {
    try {
      JsonNode tree =
          JSON.readTree(line.array(), line.arrayOffset() + line.position(), line.remaining());
      sink.take(request(record, (ObjectNode) tree));
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  // ---- requests

  /** A record with what rows read besides its keys. */
  private ObjectNode request(RequestRecord record, ObjectNode line) {
    RequestRecord.Timing timing = record.timing();
    Long admitted = timing.admittedUnixNanos();
    boolean isOk = record.outcome().ok();
    line.put("admitted_unix_ns", admitted == null ? timing.startUnixNanos() : admitted);
    line.put("closed_unix_ns", timing.closedUnixNanos());
    line.set(
        "admitted_s",
        DecimalNode.valueOf(
            BigDecimal.valueOf(
                line.path("admitted_unix_ns").longValue() - level.runStartUnixNanos(), 9)));
    ArrayNode gaps = line.putArray("gaps_s");
    TokenGaps.visit(
        record.events(),
        record.tokens(),
        (i, chunk, perToken, count) -> gaps.add(BigDecimal.valueOf(chunk, 6)));
    Double perToken = ExportedLevel.millisPerToken(record, ExportedLevel.firstTokens(record));
    line.put("tpot_less_first_s", perToken == null ? null : (Double) (perToken / 1e3));
    line.put("was_cancelled", record.outcome().status().isCut());
    line.put("ok_output_tokens", isOk ? record.tokens().outputTokens() : null);
    String error = record.outcome().error();
    line.put("failure", isOk ? null : error == null ? record.outcome().status().key() : error);
    return line;
  }

  /** The value of a row in a request; missing where it has none. */
  private static JsonNode value(JsonNode request, ExportRow row) {
    if (row.text() != null) {
      return row.text();
    }
    JsonNode value = request.path(row.figure());
    if (row.factor() == 1 || value.isNull()) {
      return value;
    }
    if (value.isArray()) {
      ArrayNode scaled = JSON.createArrayNode();
      value.forEach(each -> scaled.add(ExportedLevel.decimal(each.doubleValue() * row.factor())));
      return scaled;
    }
    return value.isNumber()
        ? ExportedLevel.decimal(value.doubleValue() * row.factor())
        : NullNode.getInstance();
  }

  private void lines(OutputStream out, ExchangeFormat format) throws IOException {
    replay(
        request -> {
          ObjectNode line = JSON.createObjectNode();
          for (ExportRow row : format.requests()) {
            JsonNode value = value(request, row);
            if (row.isWritten() && !value.isMissingNode() && !value.isNull()) {
              put(line, row, value, format.statistics());
            }
          }
          out.write(JSON.writeValueAsBytes(line));
          out.write('\n');
        });
  }

  private static void put(
      ObjectNode line, ExportRow row, JsonNode value, Map<String, String> names) {
    if (!row.path().contains("*")) {
      ExchangeFormat.put(line, row.path(), value);
    } else if (!(value.isArray() && value.isEmpty())) {
      ExchangeFormat.put(line, row.path().replace("*", "value"), value);
      names.forEach(
          (name, of) -> {
            if (of.equals(ExchangeFormat.UNIT)) {
              ExchangeFormat.put(line, row.path().replace("*", name), line.textNode(row.unit()));
            }
          });
    }
  }

  /** One pass over the requests, each column to a separate file, then one after the other. */
  private void columns(Path file, byte[] json, List<ExportRow> rows) throws IOException {
    Map<ExportRow, Path> drafts = new LinkedHashMap<>();
    List<JsonGenerator> writers = new ArrayList<>();
    try {
      for (ExportRow row : rows) {
        if (row.isWritten()) {
          Path draft = Files.createTempFile(file.toAbsolutePath().getParent(), "column-", ".part");
          drafts.put(row, draft);
          JsonGenerator writer = JSON.createGenerator(Files.newOutputStream(draft));
          writer.writeStartArray();
          writers.add(writer);
        }
      }
      replay(
          request -> {
            int column = 0;
            for (ExportRow row : drafts.keySet()) {
              JsonNode value = value(request, row);
              boolean isAbsent = value.isMissingNode() || value.isNull();
              writers.get(column++).writeTree(isAbsent ? JSON.readTree(row.unit()) : value);
            }
          });
      for (JsonGenerator writer : writers) {
        writer.writeEndArray();
        writer.close();
      }
      RunFiles.write(
          file,
          out -> {
            out.write(json, 0, json.length - 2); // without the end of the object
            for (Map.Entry<ExportRow, Path> column : drafts.entrySet()) {
              out.write((",\n  \"" + column.getKey().path() + "\" : ").getBytes(UTF_8));
              Files.copy(column.getValue(), out);
            }
            out.write("\n}\n".getBytes(UTF_8));
          });
    } finally {
      for (JsonGenerator writer : writers) {
        writer.close();
      }
      for (Path draft : drafts.values()) {
        Files.deleteIfExists(draft);
      }
    }
  }

  /** Block style; texts as in JSON, whose escapes are YAML's too. */
  private static void yaml(JsonNode node, String indent, StringBuilder out) {
    if (!node.isContainerNode() || node.isEmpty()) {
      out.append(' ').append(node.isNumber() ? node.decimalValue().toPlainString() : node);
    } else if (node instanceof ObjectNode object) {
      object
          .properties()
          .forEach(
              field -> {
                String key = field.getKey();
                boolean isPlain = key.matches("[A-Za-z]\\w*");
                out.append('\n').append(indent);
                out.append(isPlain ? key : JSON.getNodeFactory().textNode(key)).append(':');
                yaml(field.getValue(), indent + "  ", out);
              });
    } else {
      for (JsonNode each : node) {
        out.append('\n').append(indent).append('-');
        yaml(each, indent + "  ", out);
      }
    }
  }
}
