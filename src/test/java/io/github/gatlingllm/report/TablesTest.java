package io.github.gatlingllm.report;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.report.MetricsSection.Measured;
import io.github.gatlingllm.report.RunText.NamedText;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.TableCell;
import io.github.gatlingllm.report.Tables.Layout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tables of {@code tables.txt}: each is drawn of one of these runs, in each of its places. */
class TablesTest {

  private static final Map<String, Layout> LAYOUTS =
      Tables.layouts(Templates.resource("tables.txt"));

  private static Stream<Table> shown(Layout layout, String place, Summary run) {
    Tables tables = Tables.of(run);
    Stream<Table> all =
        place.endsWith(" of a level")
            ? run.stages().stream().map(level -> tables.about(level, layout.key()))
            : Stream.of(
                layout.table(tables, layout.all(run, place)),
                layout.table(tables, chosenByCode(layout, run)));
    return all.filter(table -> !table.isEmpty());
  }

  /** A row of the tables of metrics, whose rows the section of metrics chooses. */
  private static List<Row> chosenByCode(Layout layout, Summary run) {
    return switch (layout.rows()) {
      case MEASURED ->
          List.of(
              Row.of(
                  run,
                  "Jitter",
                  new Measured("Decode", Metric.DECODE_TOKENS_PER_S, run.figures())));
      case NUMBERS -> List.of(Row.of(run, "", new NamedText("Jitter", "1", "lower", "p99 ÷ p50")));
      default -> List.of();
    };
  }

  /** The number of columns that have a value in a run; of those with the same heading, the most. */
  private static int withValue(Layout layout) {
    Map<String, Integer> max = new HashMap<>();
    layout.places().keySet().stream()
        .flatMap(place -> TableRuns.ALL.stream().flatMap(run -> shown(layout, place, run)))
        .forEach(
            shown -> {
              Map<String, Integer> count = new HashMap<>();
              List<? extends Column<?>> columns = shown.columns();
              for (int i = 0; i < columns.size(); i++) {
                int column = i;
                if (shown.rows().anyMatch(row -> hasValue(row.get(column)))) {
                  // a heading may name the clock, the target or the repeats of the run
                  String heading = columns.get(i).heading().replaceFirst(" from schedule", "");
                  count.merge(i == 0 ? "name" : heading, 1, Integer::sum);
                }
              }
              count.forEach((heading, number) -> max.merge(heading, number, Math::max));
            });
    return max.values().stream().mapToInt(Integer::intValue).sum();
  }

  private static boolean hasValue(TableCell cell) {
    return !cell.text().isEmpty() && !cell.text().equals(NumberText.ABSENT);
  }

  @Test
  void everyColumnHasAValueInARun() {
    assertThat(
            LAYOUTS.values().stream()
                .filter(layout -> withValue(layout) != layout.columns().size())
                .map(of -> of.key() + ": " + withValue(of) + " of " + of.columns().size()))
        .as("no pair is judged by another percentile; completed/s is in one of two places")
        .containsExactly("Pairs of lengths: 12 of 13", "By load level: 26 of 27");
  }

  /** Place, and the tables there with the number of their columns: what goes, goes here too. */
  @Test
  void everyTableIsDrawnInItsPlaces() {
    Map<String, Set<String>> places = new TreeMap<>();
    for (Layout layout : LAYOUTS.values()) {
      for (String place : layout.places().keySet()) {
        if (TableRuns.ALL.stream()
            .anyMatch(run -> shown(layout, place, run).findAny().isPresent())) {
          places
              .computeIfAbsent(place, any -> new TreeSet<>())
              .add(layout.key() + " " + layout.columns().size());
        }
      }
    }
    assertThat(
            places.entrySet().stream()
                .map(of -> of.getKey() + ": " + String.join(", ", of.getValue()) + "\n")
                .collect(Collectors.joining()))
        .isEqualTo(
            """
            answers: Answers 13
            arrivals: Arrivals 9
            console: Answers 13, Classes of traffic 7, Generators 6, Injectors 12, Models 13, Replicas 13, Self-test 11, Tiers 7
            engine: Client and engine 12, Engine 15, GPUs 8, KV cache beside the GPU 11, Pages of metrics 7, Prefill and decode 15, Spread over GPUs 12
            gatling: Assertions on pages 4, By load level 27, By request name 16, Operating points 18, Pairs of lengths 13, Tiers 7, Times 12
            headline: Latencies 8, Load levels 22, Operating points 18, Pairs of lengths 13, Requests 13, Trials 7
            injectors: Injectors of the run 8
            injectors of a level: Injectors of a level 15
            jitter: Jitter 8, Readers 5
            levels: By load level 27
            markdown: Answers 13, Assertions 5, Classes of traffic 7, Errors 4, Generators 6, Injectors 12, Load levels 22, Models 13, Objectives 7, Operating points 18, Pairs of lengths 13, Replicas 13, Requests 13, Self-test 11, Tiers 7, Trials 7
            metrics: By model 16, By replica 16, By request name 16, By target 20, By turn of the conversation 10, Metrics 12, Prefix cache 6, Rates 12, Single numbers 3, Trials 7
            objectives: Assertions on pages 4
            objectives of a level: Objectives 7
            outcomes: Errors 4, Finish reasons 3, Objectives missed 3, Rate limits 9
            server: Server timings 7
            sessions: Sessions 12
            slowest: Slowest requests 10
            top: Latencies 8, System 2
            validity: Self-test 11
            verdict: Classes of traffic 7, Operating points 18, Pairs of lengths 13, Tiers 7
            """);
  }

  @Test
  void everyCommonColumnIsInATable() {
    List<String> lines = Templates.resource("tables.txt").lines().toList();
    int first = lines.indexOf("columns") + 1;
    int end = lines.subList(first, lines.size()).indexOf("") + first;
    String tables = String.join("; ", lines.subList(end, lines.size()));
    assertThat(
            lines.subList(first, end).stream().flatMap(line -> Stream.of(line.strip().split("; "))))
        .hasSizeGreaterThan(20)
        .allMatch(
            column -> tables.matches(".*; *\\Q" + column.split(" = ", 2)[0] + "\\E( [±iu].*|;.*)"));
  }

  private static final Set<String> KNOWN_PLACES =
      Set.of("console", "markdown", "headline", "top", "gatling");

  @Test
  void placesAreFilesAndSectionsOfThePage() {
    Set<String> sections =
        Templates.resource("sections.txt")
            .lines()
            .map(line -> line.split(" ", 2)[0])
            .collect(Collectors.toSet());
    assertThat(LAYOUTS.values().stream().flatMap(layout -> layout.places().keySet().stream()))
        .allMatch(
            place ->
                KNOWN_PLACES.contains(place)
                    || sections.contains(place.replace(" of a level", "")));
  }

  /** Each line is the third of a file whose second is a table. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "level = name, p99 = ttft.q9; no figure is called 'ttft.q9'",
        "level = name, p99 = ttft.p97; a percentile that reports do not have",
        "level = name, p99 = tttft.p99; near it: ttft.p99",
        "engine = serverMetrics.mean(REQUESTS_RUN); no figure is called",
        "level = name with remrk; no figure is called 'remrk'",
        "level = name if quue; no figure is called 'quue'",
        "level = name as words; no form is called 'words'",
        "level of {place} = name; no text is called '{place}'",
        "Other | level | console; no rows are called 'level'",
        "Levels | levels | console; a second table is called 'Levels'",
        "Other | levels; expected key | rows | places",
      })
  void mistakeIsRefusedWithItsLine(String line, String message) {
    String columns = line.contains(" | ") ? line : "  " + line.replace(", ", "; ");
    String text = "# tables\nLevels | levels | console\n" + columns + "\n";

    assertThatThrownBy(() -> Tables.layouts(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("tables.txt:3: ")
        .hasMessageContaining(message);
  }

  /** Without a separate heading a column has that of the catalogue. */
  @Test
  void figureHasTitleUnitAndFormOfTheCatalogue() {
    Layout layout =
        Tables.layouts(
                """
                Targets | targets | console
                  target = name; ttft.p50; errors.percent; output_tokens_per_s; goodput.percent
                """)
            .get("Targets");
    Summary run = TableRuns.ALL.get(0);

    assertThat(layout.table(Tables.of(run), RowKind.TARGETS.of(run, null, 9, r -> true)).markdown())
        .startsWith("| target | TTFT p50, ms | failed requests | Output, tok/s | In SLO |\n");
  }

  /**
   * By hand: 100, 100 and 110 tok/s around 103.3; standard error √(33.3 ÷ 3) = 3.33, times t =
   * 4.303 of two degrees of freedom is 13.9 %.
   */
  @Test
  void intervalBetweenRepeatsIsBesideFiguresAndInTexts() {
    List<LevelInfo> levels = new ArrayList<>();
    List<RequestRecord> records = new ArrayList<>();
    for (int repeat = 1; repeat <= 3; repeat++) {
      String label = "c=1#" + repeat;
      double from = 2_000.0 * repeat;
      levels.add(Runs.stage(label, "a", "closed loop", 1.0, "users", from, from + 1_000));
      for (int i = 0; i < (repeat == 3 ? 11 : 10); i++) {
        Recorded request = at(from + 80 * i).stage(label);
        records.add(request.tokens(1, 2, 3, 4, 5, 6, 7, 8, 9, 10).closed(20).record());
      }
    }
    Summary run = Runs.summary(Runs.run(8, levels.toArray(LevelInfo[]::new)), records);

    Table text = Tables.of(run).at("headline").get(0);
    assertThat(text.title()).isEqualTo("Load levels, ±: 95 % by 3 repeats");
    assertThat(text.markdown()).contains("| 10.3 | 103 ±14 % |");
    Table page =
        Tables.of(run)
            .table(
                "By load level",
                new ShownLevels(run).all().stream().map(l -> Row.of(run, l)).toList());
    assertThat(page.rows().flatMap(List::stream))
        .extracting(TableCell::text, TableCell::remark)
        .contains(tuple("10.3", "±14 %"), tuple("103", "±14 %"), tuple("31", ""));
  }
}
