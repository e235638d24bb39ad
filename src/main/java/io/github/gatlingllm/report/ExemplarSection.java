package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.stats.RequestSamples.Exemplar;
import io.github.gatlingllm.stats.RequestSamples.Exemplars;
import io.github.gatlingllm.stats.RequestSamples.ServerParts;
import io.github.gatlingllm.stats.RequestSamples.Told;
import io.github.gatlingllm.stats.Summary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The slowest and the failed requests, one by one, with the instant of every token event. */
final class ExemplarSection {

  private final Summary summary;
  private final Exemplars exemplars;

  ExemplarSection(Summary summary, Exemplars exemplars) {
    this.summary = summary;
    this.exemplars = exemplars;
  }

  /** The section; empty where no request was over. */
  Optional<Section> section() {
    List<Chart> charts = new ArrayList<>();
    List<Exemplar> slowest = exemplars.slowest();
    List<Exemplar> failed = exemplars.failed();
    if (!slowest.isEmpty()) {
      charts.add(
          chart(
              "timeline-slowest",
              slowest.size() == 1
                  ? "The slowest request"
                  : "The " + slowest.size() + " slowest requests",
              "Each bar is one ok request from its planned start to its last token, each tick a"
                  + " token event: holes between ticks are stalls, a late first tick is a wait.",
              slowest));
    }
    if (!failed.isEmpty()) {
      charts.add(
          chart(
              "timeline-failed",
              failed.size() == 1 ? "The failed request" : failed.size() + " failed requests",
              "Each bar is one failed request until it was over, each tick a token event that still"
                  + " came: of each cause the longest, then the next of each.",
              failed));
    }
    if (charts.isEmpty()) {
      return Optional.empty();
    }
    String together = new RunText(summary).together();
    return Optional.of(
        Section.of(
                "timeline",
                "Requests that stand out",
                "Requests",
                "Point at a bar, or open its data as a table, for the request's id: the same as in"
                    + " requests.jsonl and in the header X-Request-Id that the server got."
                    + (together.isEmpty() ? "" : " Requests of " + together + "."))
            .charts(charts));
  }

  /** What some requests asked and were told; empty where texts were not recorded. */
  Optional<Section> texts() {
    if (exemplars.told().isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        Section.of(
                "texts",
                "Prompts and answers",
                "Texts",
                "As recorded (recordText=true), long ones cut in their middle: is this what you"
                    + " meant to ask, and does the server answer it? The median is that of a"
                    + " sample.")
            .body("texts", Map.of("texts", exemplars.told().stream().map(this::shown).toList())));
  }

  /**
   * One request, as {@code texts.peb} shows it.
   *
   * @param parts what was asked and told, by name
   */
  record Shown(String title, String facts, Map<String, String> parts) {}

  private Shown shown(Told told) {
    Exemplar request = told.request();
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("Asked", told.asked());
    if (!told.reasoning().isEmpty()) {
      parts.put("Reasoning", told.reasoning());
    }
    parts.put("Answer", told.answer().isEmpty() ? "nothing" : told.answer());
    Double first = request.firstTokenMs();
    String facts =
        place(request)
            + (first == null ? "" : ", first token after " + NumberText.ms(first))
            + ", over after "
            + NumberText.ms(request.endMs())
            + ", "
            + count(request.outputTokens())
            + " output tokens, "
            + request.requestId();
    String outcome = request.error() == null ? "" : ", " + outcome(request);
    return new Shown(told.why() + ": " + request.name() + outcome, facts, parts);
  }

  private Chart chart(String id, String title, String howTo, List<Exemplar> requests) {
    List<String> places = new ArrayList<>();
    List<Point> ticks = new ArrayList<>();
    for (Exemplar request : requests) {
      int row = places.size();
      places.add((row + 1) + " " + (request.error() == null ? request.name() : request.verdict()));
      request.marksMs().forEach(ms -> ticks.add(new Point(row, ms)));
    }
    List<Line> lines = new ArrayList<>();
    lines.add(part("queue wait", 4, requests, ExemplarSection::waitMs));
    lines.add(part("connect", 3, requests, ExemplarSection::connectMs));
    lines.add(reported("reported queue", 4, requests, ServerParts::queueNanos));
    lines.add(reported("reported prefill", 2, requests, ServerParts::prefillNanos));
    boolean isReported = requests.stream().anyMatch(request -> request.server() != null);
    lines.add(
        part(
            isReported ? "rest to first token" : "to first token",
            1,
            requests,
            ExemplarSection::firstTokenMs));
    lines.add(part("no token until it was over", 5, requests, ExemplarSection::tokenlessMs));
    lines.add(part("tokens", 0, requests, ExemplarSection::tokensMs));
    lines.removeIf(line -> line.points().stream().allMatch(p -> Objects.equals(p.y(), 0.0)));
    if (!ticks.isEmpty()) {
      lines.add(new Line("token events", Form.TICKS, 0, 0, ticks, List.of()));
    }
    return new Chart(
            id,
            title,
            "longest "
                + NumberText.ms(requests.stream().mapToDouble(Exemplar::endMs).max().orElse(0)),
            howTo,
            Axis.places("Request", "", places),
            Axis.of("Time since planned start", "ms"),
            lines)
        .widened()
        .tabled(table(title, requests));
  }

  private Line part(
      String name, int color, List<Exemplar> requests, ToDoubleFunction<Exemplar> ms) {
    List<Point> points = new ArrayList<>();
    for (Exemplar request : requests) {
      points.add(new Point(points.size(), ms.applyAsDouble(request), caption(request)));
    }
    return new Line(name, Form.STACK, color, 0, points, List.of());
  }

  /** What the server reported; striped. */
  private Line reported(
      String name, int color, List<Exemplar> requests, ToLongFunction<ServerParts> nanos) {
    List<Point> points =
        part(name, color, requests, request -> orZero(reportedMs(request, nanos))).points();
    return new Line(name, Form.STACK, color, 1, points, List.of());
  }

  private static @Nullable Double reportedMs(Exemplar request, ToLongFunction<ServerParts> nanos) {
    ServerParts server = request.server();
    return server == null ? null : (Double) (nanos.applyAsLong(server) / 1e6);
  }

  private static double orZero(@Nullable Double ms) {
    return ms == null ? 0 : ms;
  }

  private String caption(Exemplar request) {
    return request.requestId()
        + ", "
        + place(request)
        + " at "
        + NumberText.clock(request.startS())
        + ", "
        + outcome(request);
  }

  private String place(Exemplar request) {
    return summary.place(request.stage(), request.target(), request.scenario());
  }

  private static double waitMs(Exemplar request) {
    Double admitted = request.admittedMs();
    return admitted == null ? request.endMs() : admitted;
  }

  private static double connectMs(Exemplar request) {
    Double written = request.writtenMs();
    return written == null ? 0 : written - waitMs(request);
  }

  private static double firstTokenMs(Exemplar request) {
    Double first = request.firstTokenMs();
    return first == null
        ? 0
        : first
            - waitMs(request)
            - connectMs(request)
            - orZero(reportedMs(request, ServerParts::queueNanos))
            - orZero(reportedMs(request, ServerParts::prefillNanos));
  }

  private static double tokenlessMs(Exemplar request) {
    return request.firstTokenMs() == null
        ? request.endMs() - waitMs(request) - connectMs(request)
        : 0;
  }

  private static double tokensMs(Exemplar request) {
    Double first = request.firstTokenMs();
    return first == null ? 0 : Math.max(0, request.endMs() - first);
  }

  private Table table(String title, List<Exemplar> requests) {
    List<Column<Exemplar>> columns =
        new ArrayList<>(
            List.of(
                Column.name("Request", request -> ranked(requests, request)),
                Column.words("level", this::place),
                Column.figure("planned at", request -> NumberText.clock(request.startS())),
                Column.number("queue wait, ms", ExemplarSection::waitMs),
                Column.number("first token, ms", Exemplar::firstTokenMs),
                Column.number("over, ms", Exemplar::endMs),
                Column.figure("output tokens", request -> count(request.outputTokens())),
                Column.count("token events", Exemplar::events),
                Column.number("longest gap, ms", Exemplar::longestGapMs)));
    if (requests.stream().anyMatch(request -> request.server() != null)) {
      columns.add(reportedColumn("queue", ServerParts::queueNanos));
      columns.add(reportedColumn("prefill", ServerParts::prefillNanos));
      columns.add(reportedColumn("decode", ServerParts::decodeNanos));
    }
    columns.add(Column.words("Outcome", ExemplarSection::outcome));
    columns.add(Column.words("Request id", Exemplar::requestId));
    return Table.of(title, requests, columns).styled("compact");
  }

  private static Column<Exemplar> reportedColumn(String part, ToLongFunction<ServerParts> nanos) {
    return Column.number("reported " + part + ", ms", request -> reportedMs(request, nanos));
  }

  private static String ranked(List<Exemplar> requests, Exemplar request) {
    return (requests.indexOf(request) + 1) + " " + request.name();
  }

  private static String outcome(Exemplar request) {
    String error = request.error();
    return error == null ? request.verdict() : request.verdict() + ": " + error;
  }

  private static String count(@Nullable Integer tokens) {
    return tokens == null ? NumberText.ABSENT : NumberText.count(tokens);
  }
}
