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
import io.github.gatlingllm.figures.metric.Figure.AssertionResult;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * A {@link Summary} as text: console block, {@code summary.json}, {@code summary.md} and {@code
 * junit.xml}.
 */
final class SummaryText {

  /** Kinds of errors that the console names. */
  private static final int ERRORS = 5;

  private static final int WIDTH = 120;

  /** The facts that the console prints beside the verdict; files and page have all of them. */
  private static final Pattern COUNTS =
      Pattern.compile(
          "requests|operating point|single stream|cold start|goodput|rate limits|trials|workload");

  private final Summary summary;
  private final StringBuilder out = new StringBuilder();

  private SummaryText(Summary summary) {
    this.summary = summary;
  }

  /** The console block in Gatling's style; each line ends with a line feed. */
  static String console(Summary summary) {
    return new SummaryText(summary).console();
  }

  /** The complete {@code llm/summary.md}, short enough for a pull request or a CI job. */
  static String markdown(Summary summary) {
    return new SummaryText(summary).markdown();
  }

  private String passed(List<Check> raised) {
    return VerdictSections.passed(summary.checks().size() - raised.size());
  }

  private String console() {
    line("=".repeat(WIDTH));
    line(title("LLM Information"));
    wrapped(summary.verdict());
    RunText.facts(summary).stream()
        .filter(fact -> COUNTS.matcher(fact.name()).lookingAt())
        .forEach(fact -> wrapped(fact.name() + ": " + fact.value()));
    Tables tables = Tables.of(summary);
    tables.at("headline").stream().limit(1).forEach(this::titled);
    tables.at("console").forEach(this::titled);
    if (!RunText.ceiling(summary).isEmpty()) {
      wrapped(RunText.ceiling(summary));
    }
    errors();
    line(title("Validity"));
    List<Check> raised = VerdictSections.raised(summary);
    raised.forEach(
        c -> wrapped(c.level().key() + " " + c.id() + ": " + c.message() + " " + c.remedy()));
    if (!passed(raised).isEmpty()) {
      wrapped(passed(raised));
    }
    line("=".repeat(WIDTH));
    return out.toString();
  }

  /** A line like {@code ---- LLM Information ------…} of the full width. */
  private static String title(String text) {
    String start = "---- " + text + " ";
    return start + "-".repeat(Math.max(0, WIDTH - start.length()));
  }

  private void errors() {
    List<ErrorCount> kinds = RowKind.failures(summary.figures()).toList();
    List<ErrorCount> shown = kinds.subList(0, Math.min(ERRORS, kinds.size()));
    List<ErrorCount> others = kinds.subList(shown.size(), kinds.size());
    if (!shown.isEmpty()) {
      line(title("Errors"));
    }
    shown.forEach(
        e -> wrapped(NumberText.count(e.count()) + " × " + e.verdict() + ": " + e.message()));
    if (!others.isEmpty()) {
      long requests = others.stream().mapToLong(ErrorCount::count).sum();
      wrapped(
          "%s failed in %s: see the report"
              .formatted(
                  NumberText.counted(requests, "request"),
                  NumberText.counted(others.size(), "other way")));
    }
  }

  private void titled(Table table) {
    if (!table.title().isEmpty()) {
      line(title(table.title()));
    }
    table.lines(WIDTH - 2).forEach(text -> line("> " + text));
    if (table.hasLowN()) {
      line("  " + MetricsSection.LOW_N);
    }
  }

  /** Adds a text, broken at spaces; continuation lines are indented. */
  private void wrapped(String text) {
    StringBuilder current = new StringBuilder("> ");
    boolean isFresh = true;
    for (String word : PrintableText.of(text.replaceAll("\\s+", " ")).split(" ", -1)) {
      String shown = word.length() > WIDTH - 4 ? word.substring(0, WIDTH - 5) + "…" : word;
      if (!isFresh && current.length() + 1 + shown.length() > WIDTH) {
        line(current.toString());
        current = new StringBuilder("  ");
        isFresh = true;
      }
      current.append(isFresh ? "" : " ").append(shown);
      isFresh = false;
    }
    line(current.toString());
  }

  private void line(String text) {
    out.append(text).append('\n');
  }

  private String markdown() {
    List<Check> raised = VerdictSections.raised(summary);
    Map<String, Object> values = new HashMap<>();
    values.put("summary", summary);
    values.put("lowN", MetricsSection.LOW_N);
    values.put("top", Tables.of(summary).at("top"));
    values.put("tables", Tables.of(summary).at("markdown"));
    values.put("ceiling", RunText.ceiling(summary));
    values.put("raised", raised);
    values.put("passed", passed(raised));
    return Templates.fill("summary-md", values);
  }

  /** The assertions as tests of a CI server: a suite named as the simulation, a case for each. */
  static String junit(Summary summary) {
    Summary.RunSummary run = summary.run();
    List<AssertionResult> results = summary.assertions();
    double seconds = (run.endUnixNs() - run.startUnixNs()) / 1e9;
    return Templates.fill(
        "junit",
        Map.of(
            "simulation", Objects.requireNonNullElse(run.simulation(), run.id()),
            "results", results,
            "failures", results.stream().filter(result -> !result.ok()).count(),
            "time", String.format(Locale.ROOT, "%.3f", seconds)));
  }

  // ---- JSON

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

  /**
   * The complete {@code llm/summary.json}: keys in a fixed order, absent values as null, numbers
   * with 9 significant digits; equal summaries give equal bytes.
   */
  static String json(Summary summary) {
    ObjectNode root = JSON.createObjectNode();
    root.put("schema", Summary.SCHEMA);
    root.setAll((ObjectNode) JSON.valueToTree(summary));
    return json((Object) root);
  }

  /** Plain values in the same form. */
  static String json(Object values) {
    try {
      return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(values) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of plain values is always JSON", e);
    }
  }
}
