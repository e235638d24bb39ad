package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.SelfTestQuote;
import io.github.gatlingllm.figures.level.SelfTestQuote.At;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.SelfTest.Errors;
import io.github.gatlingllm.record.SelfTest.Level;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The measurement error of the load generator on the run's machine, from a self-test. */
final class SelfTestText {

  static final String NAME = "measurement error";
  static final String TITLE = "Self-test: errors in ms";

  private static final String HOW = "mvn gatling:test -Dllm.selfTest=true (simulation Benchmark)";

  private final @Nullable SelfTestQuote quote;
  private final boolean isSelfTest;

  SelfTestText(Summary summary) {
    quote = summary.selfTest();
    isSelfTest = summary.config().containsKey(SelfTest.ENGINE);
  }

  /** The errors at the load of the run, or why they are unknown. */
  String quote() {
    if (quote == null) {
      return "not known, as no self-test ran on this machine; one takes about a minute: " + HOW;
    }
    SelfTest test = quote.test();
    return test.applies()
        ? known(quote)
        : "not known: the self-test of %s and this run differ in: %s; measure again: %s"
            .formatted(day(test), String.join(", ", test.differs()), HOW);
  }

  private static String known(SelfTestQuote quote) {
    SelfTest test = quote.test();
    At headline = quote.operatingPoint();
    At peak = quote.peak();
    StringBuilder text = new StringBuilder();
    if (headline != null) {
      text.append(errors(quote, headline));
    }
    if (peak != null && (headline == null || !Objects.equals(headline.tested(), peak.tested()))) {
      text.append(text.isEmpty() ? "" : "; at the peak of the run ").append(errors(quote, peak));
    }
    text.append("; self-test of ").append(day(test)).append(" on this machine");
    return text.toString();
  }

  private static String errors(SelfTestQuote quote, At at) {
    Level tested = at.tested();
    if (tested == null) {
      return "not known: "
          + load(at.streams(), at.eventsPerS())
          + " are beyond what the self-test measured";
    }
    return "TTFT %s, ITL %s, as measured with %s%s"
        .formatted(
            errors(tested.ttftErrorMs()),
            errors(tested.itlErrorMs()),
            load(tested.streams(), tested.eventsPerS()),
            tested.isWithin(quote.test().boundMs()) ? "" : ", beyond its ceiling");
  }

  private static String errors(Errors errors) {
    return "± " + NumberText.ms(errors.p50()) + " (p99 " + NumberText.ms(errors.p99()) + ")";
  }

  private static String load(double streams, double eventsPerS) {
    return NumberText.count(Math.round(streams))
        + (streams == 1 ? " stream and " : " streams and ")
        + NumberText.count(Math.round(eventsPerS))
        + " events/s";
  }

  private static String day(SelfTest test) {
    return Instant.ofEpochSecond(TimeUnit.NANOSECONDS.toSeconds(test.measuredUnixNanos()))
        .atOffset(ZoneOffset.UTC)
        .toLocalDate()
        .toString();
  }

  public Table table() {
    double bound = quote == null ? 0 : quote.test().boundMs();
    List<Level> levels = quote == null || !isSelfTest ? List.of() : quote.test().levels();
    return Table.of(
        TITLE,
        levels,
        Column.count("streams", Level::streams),
        Column.count("events per s", level -> Math.round(level.eventsPerS())),
        Column.number("requests per s", Level::requestsPerS),
        Column.number("TTFT p50", level -> level.ttftErrorMs().p50()),
        Column.number("TTFT p99", level -> level.ttftErrorMs().p99()),
        Column.number("TTFT max", level -> level.ttftErrorMs().max()),
        Column.number("ITL p50", level -> level.itlErrorMs().p50()),
        Column.number("ITL p99", level -> level.itlErrorMs().p99()),
        Column.number("ITL max", level -> level.itlErrorMs().max()),
        Column.number("engine late p99", Level::engineLateP99Ms),
        Column.of("within bound", level -> Cell.passed(level.isWithin(bound))));
  }

  /** The highest load with errors within the bound; empty for runs other than a self-test. */
  public String ceiling() {
    if (quote == null || !isSelfTest) {
      return "";
    }
    SelfTest test = quote.test();
    SelfTest.Ceiling ceiling = test.ceiling();
    String bound = "the p99 of both errors within " + NumberText.plainMs(test.boundMs());
    if (ceiling == null) {
      return "Ceiling: no level kept " + bound;
    }
    return "Ceiling: %s%s, %s, with %s%s"
        .formatted(
            ceiling.exceeded() ? "" : "at least ",
            load(ceiling.streams(), ceiling.eventsPerS()),
            NumberText.with(ceiling.requestsPerS(), "requests/s"),
            bound,
            above(ceiling, test));
  }

  /** A note if the engine, not the load generator, was the limit above the ceiling. */
  private static String above(SelfTest.Ceiling ceiling, SelfTest test) {
    return test.levels().stream()
        .filter(level -> level.streams() > ceiling.streams())
        .findFirst()
        .filter(level -> level.engineLateP99Ms() > test.boundMs())
        .map(
            level ->
                "; above it the engine was late too, because both share this machine: with a server"
                    + " on another machine the ceiling is higher")
        .orElse("");
  }
}
