package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series.Exemplar;
import io.github.gatlingllm.figures.level.Series.Exemplars;
import io.github.gatlingllm.figures.level.Series.ServerParts;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The slowest and the failed requests in detail, with the instant of every token event. */
final class ExemplarSection {

  private final Summary summary;
  private final Exemplars exemplars;

  ExemplarSection(Summary summary, Exemplars exemplars) {
    this.summary = summary;
    this.exemplars = exemplars;
  }

  @Nullable Section section() {
    List<Exemplar> slowest = exemplars.slowest();
    List<Exemplar> failed = exemplars.failed();
    List<Exemplar> all = Stream.concat(slowest.stream(), failed.stream()).toList();
    if (all.isEmpty()) {
      return null;
    }
    String title =
        failed.isEmpty()
            ? "The slowest requests"
            : slowest.isEmpty() ? "Failed requests" : "The slowest requests and failed ones";
    String pooled = RunText.pooledOver(summary);
    return Section.of("timeline", pooled.isEmpty() ? "" : " Requests of " + pooled + ".")
        .charts(List.of(chart(title, all)));
  }

  /** A part of the bars; a part that the server reported is drawn striped. */
  private record Part(String name, int color, int stripes, ToDoubleFunction<Exemplar> ms) {

    static Part reported(String name, int color, ToLongFunction<ServerParts> nanos) {
      return new Part(name, color, 1, request -> orZero(reportedMs(request, nanos)));
    }
  }

  private Chart chart(String title, List<Exemplar> requests) {
    List<String> places = new ArrayList<>();
    List<Point> ticks = new ArrayList<>();
    for (Exemplar request : requests) {
      int row = places.size();
      places.add((row + 1) + " " + (request.error() == null ? request.name() : request.verdict()));
      request.marksMs().forEach(ms -> ticks.add(new Point(row, ms)));
    }
    boolean isReported = requests.stream().anyMatch(request -> request.server() != null);
    String first = isReported ? "rest to first token" : "to first token";
    List<Line> lines =
        Stream.of(
                new Part("queue wait", 4, 0, ExemplarSection::waitMs),
                new Part("connect", 3, 0, ExemplarSection::connectMs),
                Part.reported("reported queue", 4, ServerParts::queueNanos),
                Part.reported("reported prefill", 2, ServerParts::prefillNanos),
                new Part(first, 1, 0, ExemplarSection::firstTokenMs),
                new Part("ended without a token", 5, 0, ExemplarSection::tokenlessMs),
                new Part("tokens", 0, 0, ExemplarSection::tokensMs))
            .map(part -> line(part, requests))
            .filter(line -> !line.points().stream().allMatch(p -> Objects.equals(p.y(), 0.0)))
            .collect(Collectors.toCollection(ArrayList::new));
    if (!ticks.isEmpty()) {
      lines.add(new Line("token events", Form.TICKS, 0, 0, ticks, List.of()));
    }
    double longest = requests.stream().mapToDouble(Exemplar::endMs).max().orElse(0);
    Axis all = Axis.places("Request", "", places);
    return Chart.of("timeline-requests", all, lines, title, NumberText.ms(longest))
        .widened()
        .tabled(table(title, requests));
  }

  private Line line(Part part, List<Exemplar> requests) {
    List<Point> points = new ArrayList<>();
    for (Exemplar request : requests) {
      points.add(new Point(points.size(), part.ms.applyAsDouble(request), caption(request)));
    }
    return new Line(part.name, Form.STACK, part.color, part.stripes, points, List.of());
  }

  private static @Nullable Double reportedMs(Exemplar request, ToLongFunction<ServerParts> nanos) {
    ServerParts server = request.server();
    return server == null ? null : (Double) (nanos.applyAsLong(server) / 1e6);
  }

  private static double orZero(@Nullable Double ms) {
    return ms == null ? 0 : ms;
  }

  private String caption(Exemplar request) {
    String at = NumberText.clock(request.startS());
    return "%s, %s at %s, %s".formatted(request.requestId(), place(request), at, outcome(request));
  }

  private String place(Exemplar request) {
    return summary.place(request.level());
  }

  private static double waitMs(Exemplar request) {
    return Objects.requireNonNullElse(request.admittedMs(), request.endMs());
  }

  private static double connectMs(Exemplar request) {
    return Objects.requireNonNullElse(request.writtenMs(), waitMs(request)) - waitMs(request);
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
    return Columns.<Exemplar>of(
            Column.name("Request", request -> ranked(requests, request)),
            Column.words("level", this::place),
            Column.figure("planned at", request -> NumberText.clock(request.startS())),
            Column.number("queue wait, ms", ExemplarSection::waitMs),
            Column.number("first token, ms", Exemplar::firstTokenMs),
            Column.number("end, ms", Exemplar::endMs),
            Column.figure("output tokens", request -> count(request.outputTokens())),
            Column.count("token events", Exemplar::events),
            Column.number("longest gap, ms", Exemplar::longestGapMs))
        .when(
            requests.stream().anyMatch(request -> request.server() != null),
            reportedColumn("queue", ServerParts::queueNanos),
            reportedColumn("prefill", ServerParts::prefillNanos),
            reportedColumn("decode", ServerParts::decodeNanos))
        .and(
            Column.words("Outcome", ExemplarSection::outcome),
            Column.words("Request id", Exemplar::requestId))
        .table(title, requests)
        .styled("compact");
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
