package io.github.gatlingllm.report;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * A {@link Summary} as {@code llm/summary.json}: keys in a fixed order, absent values as null,
 * numbers with 9 significant digits; equal summaries give equal bytes.
 */
final class SummaryJson {

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .visibility(PropertyAccessor.IS_GETTER, JsonAutoDetect.Visibility.NONE)
          .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
          .addModule(
              new SimpleModule()
                  .addSerializer(Double.class, new ShortNumber())
                  .addSerializer(double.class, new ShortNumber()))
          .addMixIn(SingleStream.class, WithSpeed.class)
          .build();

  private SummaryJson() {}

  /** {@code run.json} has only what was measured. */
  private interface WithSpeed {
    @JsonProperty
    Double tokensPerS();
  }

  /** Rounds away floating-point noise; 9 decimals of a time in seconds are nanoseconds. */
  private static final class ShortNumber extends StdSerializer<Double> {

    private static final MathContext DIGITS = new MathContext(9);
    private static final int MAX_DECIMALS = 9;

    private ShortNumber() {
      super(Double.class);
    }

    @Override
    public void serialize(Double value, JsonGenerator out, SerializerProvider provider)
        throws IOException {
      if (Double.isFinite(value)) {
        BigDecimal rounded = BigDecimal.valueOf(value).round(DIGITS);
        int decimals = Math.max(0, Math.min(MAX_DECIMALS, rounded.stripTrailingZeros().scale()));
        out.writeNumber(rounded.setScale(decimals, RoundingMode.HALF_UP));
      } else {
        out.writeNull();
      }
    }
  }

  static String of(Summary summary) {
    ObjectNode root = JSON.createObjectNode();
    root.put("schema", Summary.SCHEMA);
    root.setAll((ObjectNode) JSON.valueToTree(summary));
    return text(root);
  }

  static String text(Object tree) {
    try {
      return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(tree) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of plain values is always JSON", e);
    }
  }
}
