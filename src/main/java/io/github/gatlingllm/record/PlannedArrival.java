package io.github.gatlingllm.record;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A planned arrival of open load, whether or not its request was sent: a line of {@code
 * llm/arrivals.jsonl}.
 *
 * @param index from 0, in its schedule
 * @param scheduledOffsetS from the start of its schedule
 * @param scheduledUnixNs the same on the run's clock
 * @param inputTokens of a replayed request, else null
 */
public record PlannedArrival(
    @Nullable String scenario,
    String target,
    String stage,
    long index,
    @Nullable BigDecimal scheduledOffsetS,
    long scheduledUnixNs,
    @Nullable Integer inputTokens,
    @Nullable Integer outputTokens) {

  private static final ObjectReader LINES =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .build()
          .readerFor(PlannedArrival.class);

  public PlannedArrival {
    requireNonNull(target);
    requireNonNull(stage);
  }

  @JsonIgnore
  public LevelInfo.Key level() {
    return new LevelInfo.Key(stage, target, scenario);
  }

  /** Passes every arrival of the file to {@code sink}; returns the number of damaged lines. */
  public static long read(Path file, Consumer<PlannedArrival> sink) throws IOException {
    return JsonLines.values(file, LINES::readValue, sink);
  }
}
