package io.github.gatlingllm.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.report.ExchangeFormat.ExportRow;
import io.github.gatlingllm.report.OtherRun.Level;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request of another load generator as a line of {@code requests.jsonl}. */
final class OtherRequest {

  private static final double MICROS_PER_S = 1e6;

  /** The phase of AIPerf that is not a warm-up. */
  private static final String PROFILING = "profiling";

  private OtherRequest() {}

  static double latency(Map<String, Double> values, double start) {
    Double ended = values.get("ended_s");
    return ended == null ? values.getOrDefault("latency_s", 0.0) : ended - start;
  }

  /** The numbers of a request, by what rows call them; none of a warm-up. */
  static Map<String, Double> numbers(OtherFile file, JsonNode request) throws IOException {
    Map<String, Double> values = new HashMap<>();
    if (!request.at("/metadata/benchmark_phase").asText(PROFILING).equals(PROFILING)) {
      return values;
    }
    for (ExportRow row : file.format().requests()) {
      Double number = row.isRead() ? file.number(request, row, "value") : null;
      if (number != null) {
        values.put(row.figure(), number);
      }
    }
    return values;
  }

  /** The request as a line of requests.jsonl; null if it is not of the load. */
  static @Nullable ObjectNode line(Level level, JsonNode request, long index) throws IOException {
    Map<String, Double> values = numbers(level.file(), request);
    Double start = values.get("admitted_s");
    if (start == null) {
      return null;
    }
    JsonNode failure = node(level.file(), request, "failure");
    JsonNode cut = node(level.file(), request, "was_cancelled");
    boolean isCut = cut != null && cut.asBoolean();
    boolean isOk = !isCut && (failure == null || failure.asText().isEmpty());
    String name = level.info().target();
    ObjectNode line = ExchangeFormat.JSON.createObjectNode();
    line.put("request_id", name + "-" + index).put("run_id", name).put("injector", name);
    line.put("request_index", index).put("scenario", name).put("name", name).put("user_id", 0);
    line.put("target", name).put("endpoint", "").put("api", "").put("replica", name);
    line.set("model", level.facts().get("model"));
    line.put("stage", level.info().label()).put("phase", Phase.MEASURE.key());
    line.put("start_unix_ns", OtherRun.nanos(start) + level.shiftNanos()).put("gate_wait_s", 0);
    RequestStatus status =
        isOk ? RequestStatus.COMPLETE : isCut ? RequestStatus.CANCELLED : RequestStatus.HTTP_ERROR;
    line.put("status", status.key());
    line.put("error", isOk || failure == null ? null : "%.200s".formatted(failure.asText()));
    put(line, "prompt_tokens", values.get("prompt_tokens"), 0);
    double latency = latency(values, start);
    put(line, "closed_s", latency, 9);
    if (isOk) {
      answer(line, level, request, values, start, latency);
    }
    return line;
  }

  /** The last value of a request that rows call so; null for none. */
  private static @Nullable JsonNode node(OtherFile file, JsonNode request, String figure) {
    JsonNode last = null;
    for (ExportRow row : file.format().requests()) {
      if (row.isRead() && row.figure().equals(figure)) {
        JsonNode node = ExchangeFormat.at(request, row.path());
        last = node.isMissingNode() || node.isNull() ? last : node;
      }
    }
    return last;
  }

  private static void answer(
      ObjectNode line,
      Level level,
      JsonNode request,
      Map<String, Double> values,
      double start,
      double latency)
      throws IOException {
    List<Double> offsets = offsets(level.file(), request, values, start);
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
  private static List<Double> offsets(
      OtherFile file, JsonNode request, Map<String, Double> values, double start)
      throws IOException {
    List<Double> offsets = new ArrayList<>();
    for (ExportRow row : file.format().requests()) {
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
