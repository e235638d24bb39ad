package io.github.gatlingllm.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Medians as a Markdown table, with their ratio to bare Netty. */
final class BenchTable {

  private static final String REFERENCE = "netty";

  /**
   * A column.
   *
   * @param title with the unit
   * @param figures names of the values in a cell
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Column(String title, String... figures) {}

  private static final List<Column> ACCURACY =
      List.of(
          new Column("TTFT error, ms", "ttft_p50_ms", "ttft_p99_ms"),
          new Column("ITL error, ms", "itl_p50_ms", "itl_p99_ms"),
          new Column("token late, ms", "late_p50_ms", "late_p99_ms"),
          new Column("CPU per event, µs", "cpu_us_per_event"),
          new Column("CPU in all, s", "process_cpu_s"));
  private static final List<Column> SUSTAINED =
      List.of(
          new Column("token late p50/p99, ms", "late_p50_ms", "late_p99_ms"),
          new Column("in the last fifth p99, ms", "late_at_end_p99_ms"),
          new Column("share of the processor", "cpu_share"),
          new Column("CPU per event, µs", "cpu_us_per_event"));
  private static final List<Column> REQUESTS =
      List.of(
          new Column("CPU per request, µs", "cpu_us_per_request"),
          new Column("second half, µs", "cpu_us_per_request_warm"));
  private static final List<Column> SATURATION =
      List.of(
          new Column("requests/s, second half", "requests_per_s_warm"),
          new Column("CPU per request, second half, µs", "cpu_us_per_request_warm"),
          new Column("compiler/collector, ms", "compiler_ms", "collector_ms"));
  private static final List<Column> EVENTS =
      List.of(new Column("events per CPU second, second half", "events_per_cpu_s_warm"));

  private BenchTable() {}

  private static List<Column> columns(BenchScenario scenario) {
    return switch (scenario) {
      case PACED_64, PACED_256, STEP_1024 -> ACCURACY;
      case SUSTAINED_2048 -> SUSTAINED;
      case SHORT, UNIQUE, LONG_PROMPTS -> REQUESTS;
      case SATURATED -> SATURATION;
      case FLOOD -> EVENTS;
    };
  }

  /**
   * A row per client.
   *
   * @param medians figures by client, in the order of the rows
   */
  static String of(BenchScenario scenario, Map<String, Map<String, Double>> medians) {
    List<Column> columns = columns(scenario);
    StringBuilder table = new StringBuilder("client");
    columns.forEach(column -> table.append(" | ").append(column.title));
    table.append("\n---").append("|---".repeat(columns.size())).append('\n');
    Map<String, Double> reference = medians.getOrDefault(REFERENCE, Map.of());
    medians.forEach(
        (client, figures) -> {
          table.append(client).append(missing(figures));
          columns.forEach(
              column ->
                  table
                      .append(" | ")
                      .append(
                          cell(column, figures, client.equals(REFERENCE) ? Map.of() : reference)));
          table.append('\n');
        });
    return table.toString();
  }

  private static String missing(Map<String, Double> figures) {
    double missing = figures.getOrDefault("missing", 0.0);
    return missing == 0 ? "" : String.format(Locale.ROOT, " (%,.0f requests missing)", missing);
  }

  private static String cell(
      Column column, Map<String, Double> figures, Map<String, Double> reference) {
    List<String> values = new ArrayList<>();
    List<String> ratios = new ArrayList<>();
    for (String figure : column.figures) {
      double value = figures.getOrDefault(figure, Double.NaN);
      double of = reference.getOrDefault(figure, Double.NaN);
      values.add(number(value));
      if (!Double.isNaN(value / of) && of > 0 && value > 0) {
        ratios.add(number(value / of));
      }
    }
    String text = String.join("/", values);
    return ratios.size() == values.size() ? text + " (" + String.join(", ", ratios) + "×)" : text;
  }

  /** Two significant digits, or all digits before the decimal point. */
  static String number(double value) {
    if (Double.isNaN(value)) {
      return "–";
    }
    if (value == 0) {
      return "0";
    }
    double size = Math.abs(value);
    String format = size >= 10 ? "%,.0f" : size >= 1 ? "%.1f" : size >= 0.1 ? "%.2f" : "%.3f";
    return String.format(Locale.ROOT, format, value);
  }

  /** Writes a text between {@code <!-- bench:name -->} and {@code <!-- /bench:name -->}. */
  static String between(String page, String name, String text) {
    String opening = "<!-- bench:" + name + " -->\n";
    String closing = "<!-- /bench:" + name + " -->";
    int from = page.indexOf(opening);
    int to = page.indexOf(closing);
    if (from < 0 || to < from) {
      throw new IllegalArgumentException("The page has no place for " + name + ": " + opening);
    }
    return page.substring(0, from + opening.length()) + text + page.substring(to);
  }

  /** The same in a file. */
  static void write(Path page, String name, String text) throws IOException {
    Files.writeString(page, between(Files.readString(page), name, text));
  }
}
