package io.github.gatlingllm.report;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonKey;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.POJONode;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import io.github.gatlingllm.figures.level.Grouping;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.SelfTestQuote;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.Figure.AssertionResult;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.InjectorFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.SelfTest;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
          .addMixIn(Summary.class, SummaryForm.class)
          .addMixIn(LevelFigures.class, LevelForm.class)
          .addMixIn(LevelInfo.class, LevelInfoForm.class)
          .addMixIn(Summary.Injector.class, Inline.class)
          .addMixIn(InjectorRun.class, InjectorRunForm.class)
          .addMixIn(SelfTestQuote.class, Inline.class)
          .addMixIn(SelfTest.class, SelfTestForm.class)
          .addMixIn(Summary.Target.class, ServedInline.class)
          .addMixIn(SingleStream.class, SingleStreamForm.class)
          .addMixIn(Summary.RequestGroup.class, FiguresInline.class)
          .addMixIn(Figures.class, FiguresForm.class)
          .addMixIn(Distribution.class, DistributionForm.class)
          .addMixIn(Figures.Goodput.class, GoodputForm.class)
          .addMixIn(AssertionResult.class, AssertionForm.class)
          .addMixIn(Metric.class, MetricKey.class)
          .addMixIn(Figures.Check.class, CheckForm.class)
          .addMixIn(Sentence.class, SentenceForm.class)
          .addMixIn(EngineFigures.class, EngineForm.class)
          .build();

  private static final TypeReference<LinkedHashMap<String, JsonNode>> NUMBERS =
      new TypeReference<>() {};

  private SummaryJson() {}

  @JsonPropertyOrder({"run", "verdict", "findings", "config", "workload", "slo", "figures"})
  @JsonIgnoreProperties({"requests_at_points", "by_at_points"})
  interface SummaryForm extends FiguresInline {
    @JsonProperty
    String verdict();

    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    List<EngineFigures.Page> serverPages();

    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    List<Summary.Injector> injectors();

    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    Map<Grouping, List<Summary.RequestGroup>> by();

    @JsonProperty
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    List<Summary.LengthPair> grid();
  }

  @JsonIgnoreProperties({
    "place",
    "is_planned",
    "is_cut_short",
    "missing",
    "law",
    "silence",
    "steadiness",
    "generators"
  })
  @JsonPropertyOrder({
    "info",
    "unit",
    "start_s",
    "duration_s",
    "phases",
    "mean_in_flight",
    "arrived_per_s",
    "completed_per_s",
    "queue"
  })
  interface LevelForm extends ServedInline {
    @JsonUnwrapped
    LevelInfo info();

    @JsonProperty
    String unit();

    @JsonProperty
    Double completedPerS();

    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    List<InjectorFigures> injectors();
  }

  @JsonIgnoreProperties({"unit", "phases", "planned", "planned_start_unix_ns", "in_flight"})
  interface LevelInfoForm {}

  /** Records whose parts are written as their own fields. */
  interface Inline {
    @JsonUnwrapped
    InjectorRun run();

    @JsonUnwrapped
    InjectorFigures figures();

    @JsonUnwrapped
    SelfTest test();
  }

  @JsonPropertyOrder({"run", "share", "state", "records", "dropped", "missing", "settings"})
  @JsonIgnoreProperties({
    "name",
    "start_unix_ns",
    "end_unix_ns",
    "planned",
    "measured",
    "started",
    "levels"
  })
  interface InjectorRunForm {
    @JsonProperty
    Long missing();
  }

  @JsonPropertyOrder({"measured_unix_ns", "differs", "bound_ms", "ceiling"})
  @JsonIgnoreProperties({"schema", "machine", "versions"})
  interface SelfTestForm {}

  interface ServedInline extends FiguresInline {
    @JsonInclude(JsonInclude.Include.NON_NULL)
    EngineFigures serverMetrics();
  }

  interface SingleStreamForm {
    @JsonProperty
    Double tokensPerS();
  }

  @JsonIgnoreProperties("is_power_shared")
  interface EngineForm {
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    Map<String, EngineFigures.Gpu> gpus();

    @JsonProperty
    Double prefixCacheHitRate();

    @JsonProperty
    @JsonInclude(JsonInclude.Include.NON_NULL)
    Double acceptanceRate();

    @JsonProperty
    @JsonInclude(JsonInclude.Include.NON_NULL)
    Double acceptedLength();
  }

  interface FiguresInline {
    @JsonUnwrapped
    Figures figures();
  }

  /** A key with dots is a path, see {@link #arrange}. */
  @JsonPropertyOrder({
    "metrics",
    "throughput.window_s",
    "throughput.requests_per_min",
    "throughput.trials",
    "goodput",
    "jitter.itl_std_ms",
    "reader.tokens_per_s",
    "errors",
    "finish_reasons",
    "counts",
    "server",
    "rate_limits",
    "numbers"
  })
  @JsonIgnoreProperties("repeats")
  interface FiguresForm {
    @JsonProperty
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    Map<String, Figures.Repeated> betweenRepeats();

    @JsonSerialize(using = AsTheyAre.class)
    Map<Metric, Double> numbers();

    @JsonProperty("throughput.window_s")
    Double windowS();

    @JsonProperty("throughput.requests_per_min")
    Double requestsPerMin();

    @JsonProperty("throughput.trials")
    Figures.Trials trials();

    @JsonProperty("jitter.itl_std_ms")
    Double itlStdMs();

    @JsonProperty("reader.tokens_per_s")
    double readingSpeed();
  }

  /** Only rates have low percentiles. */
  interface DistributionForm {
    @JsonInclude(JsonInclude.Include.NON_NULL)
    Double p1();

    @JsonInclude(JsonInclude.Include.NON_NULL)
    Double p5();

    @JsonInclude(JsonInclude.Include.NON_NULL)
    Double p10();
  }

  @JsonIgnoreProperties("worth")
  interface GoodputForm {}

  @JsonPropertyOrder({"text", "expected", "actual", "ok", "note"})
  @JsonIgnoreProperties({"subject", "assertion", "unit", "value"})
  interface AssertionForm {
    @JsonProperty
    String text();

    @JsonProperty
    String expected();

    @JsonProperty
    String actual();

    @JsonProperty
    boolean ok();
  }

  @JsonPropertyOrder({"id", "level", "value", "threshold", "findings", "message", "remedy"})
  interface CheckForm {
    @JsonProperty
    String message();
  }

  @JsonPropertyOrder({"id", "place", "values", "text"})
  interface SentenceForm {
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    String place();

    @JsonProperty
    String text();
  }

  interface MetricKey {
    @JsonKey
    String key();
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

  /** Keeps a map as a Java object in the tree, so that {@link #arrange} can tell it from data. */
  private static final class AsTheyAre extends StdSerializer<Map<?, ?>> {

    private AsTheyAre() {
      super(Map.class, false);
    }

    @Override
    public void serialize(Map<?, ?> numbers, JsonGenerator out, SerializerProvider provider)
        throws IOException {
      out.writeEmbeddedObject(numbers);
    }
  }

  /** Moves numbers to their paths in the catalogue, and rates of requests next to the system's. */
  private static void arrange(JsonNode node) {
    node.forEach(SummaryJson::arrange);
    if (node instanceof ObjectNode figures && figures.get("numbers") instanceof POJONode numbers) {
      figures.remove("numbers");
      Map<String, JsonNode> all = new LinkedHashMap<>();
      figures.properties().forEach(field -> all.put(field.getKey(), field.getValue()));
      figures.removeAll();
      all.putAll(JSON.convertValue(numbers.getPojo(), NUMBERS));
      all.forEach((path, value) -> put(figures, path, value));
      for (Metric metric : Metric.distributions()) {
        if (metric.unit() == Metric.Unit.TOKENS_PER_S) {
          JsonNode rate = figures.withObject("/metrics").remove(metric.key());
          figures.withObject("/throughput").set(metric.key(), rate);
        }
      }
    }
  }

  /** Puts a value into its section. */
  private static void put(ObjectNode into, String path, JsonNode value) {
    int dot = path.indexOf('.');
    ObjectNode section = dot < 0 ? into : into.withObject("/" + path.substring(0, dot));
    section.set(path.substring(dot + 1), value);
  }

  static String of(Summary summary) {
    ObjectNode root = JSON.createObjectNode();
    root.put("schema", Summary.SCHEMA);
    root.setAll((ObjectNode) JSON.valueToTree(summary));
    arrange(root);
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
