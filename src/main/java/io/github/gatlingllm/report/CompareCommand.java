package io.github.gatlingllm.report;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.compare.Comparison;
import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.compare.Comparison.FailCondition;
import io.github.gatlingllm.figures.compare.Comparison.Judged;
import io.github.gatlingllm.figures.compare.Comparison.Step;
import io.github.gatlingllm.figures.compare.Comparison.Trend;
import io.github.gatlingllm.figures.compare.Comparison.TrendSeries;
import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.report.ComparePage.Compared;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Compares runs, in the order given, with the first: {@code compare.html}, {@code compare.md}, and
 * an exit code. As {@code trend} it compares them in order of time, each with an earlier one:
 * {@code trend.html} and {@code trend.json}.
 */
@Command(
    name = CompareCommand.COMPARE,
    aliases = CompareCommand.TREND,
    description =
        "Compares runs with a base, or as trend over time: what changed, and how clearly.",
    customSynopsis = {
      "gatling-llm compare [-hV] [--allow-thin] [--cache=<dir>] [--fail-on=<conditions>]..."
          + " [--out=<dir>] <base> <run>...",
      "gatling-llm trend [-hV] [--cache=<dir>] [--out=<dir>] <run>..."
    },
    mixinStandardHelpOptions = true)
final class CompareCommand implements Callable<Integer> {

  static final String COMPARE = "compare";
  static final String TREND = "trend";

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      arity = "1..*",
      paramLabel = "<run>",
      description =
          "the base, then others (trend: any order): a folder of a run or of runs,"
              + " s3://bucket/prefix, or results of another tool, a file or the folder of a sweep:"
              + " vllm bench, AIPerf, GuideLLM, inference-perf, Benchmark Report")
  private List<String> places = new ArrayList<>();

  @Mixin private Main.Places from = new Main.Places();

  @Option(
      names = "--fail-on",
      paramLabel = "<conditions>",
      description =
          "gates: exit code 2 if a change exceeds its limit at any load level; c=8: before a gate"
              + " names one level, all: pools them, e.g."
              + " \"ttft.p95>+10%%,c=8:goodput<-2%%,all:e2e.p99>+20%%\" [none]")
  private List<String> failOn = new ArrayList<>();

  @Option(names = "--allow-thin", description = "a gate does not fail for having too few values")
  private boolean allowsThin;

  @Option(
      names = "--out",
      paramLabel = "<dir>",
      description =
          "folder for the page and its text [the first other run; of trend the first folder]")
  private @Nullable Path out;

  @Override
  public Integer call() throws IOException {
    List<String> arguments =
        requireNonNull(spec).commandLine().getParent().getParseResult().originalArgs();
    boolean isTrend = arguments.get(0).equals(TREND); // an alias of the command
    if (isTrend && (allowsThin || !failOn.isEmpty())) {
      throw new IllegalArgumentException(
          "--fail-on and --allow-thin are options of compare; trend has no gates");
    }
    List<FailCondition> conditions =
        failOn.stream().flatMap(text -> FailCondition.parse(text).stream()).toList();
    Main.checkFolder(out);
    try (RunInputs inputs = from.inputs(places)) {
      List<Path> found = inputs.runs();
      if (!isTrend && found.size() < 2) {
        throw new IOException(
            found.get(0) + " is one run; expected a base and at least one other run to compare");
      }
      Path first = found.get(isTrend ? 0 : 1);
      if (out == null) {
        inputs.requireFolder(first, "page");
      }
      List<Recorded> runs = recorded(found);
      if (isTrend) {
        TrendSection trend = new TrendSection(trend(runs), true);
        write(Path.of(places.get(0)), TREND, ".json", trend.json(), trend.page(), trend.marks());
        return 0;
      }
      ComparePage page = compare(runs, conditions);
      String text = page.text();
      write(first, COMPARE, ".md", text, page.page(), page.lines());
      RunReport.toJobPage(text, System.getenv(), PrintableText::print);
      return page.hasFailed() ? Main.MISSED : 0;
    }
  }

  private void write(
      Path run, String name, String ending, String text, Page page, List<String> lines)
      throws IOException {
    Path beside = Files.isRegularFile(run) ? run.toAbsolutePath().getParent() : run;
    Path folder = out == null ? beside : Files.createDirectories(out);
    RunFiles.write(folder.resolve(name + ending), text);
    Path html = folder.resolve(name + ".html");
    page.write(html);
    lines.forEach(PrintableText::print);
    PrintableText.print(page.name() + ": " + html.toAbsolutePath().normalize().toUri());
  }

  /** A run with a unique name, the last of its folders if these differ. */
  private record Recorded(String name, RunInfo info, RecordSource source) {

    ComparedRun read(@Nullable RunInfo judge) throws IOException {
      ComparedRun run = ComparedRun.read(info, judge, source);
      long refused = run.figures().file().badLines();
      if (run.tool() != null && refused > 0) {
        PrintableText.print(
            "LLM: " + name + ": left out " + refused + " requests with impossible values");
      }
      return run;
    }
  }

  private static List<Recorded> recorded(List<Path> folders) throws IOException {
    List<String> names =
        folders.stream().map(run -> run.toAbsolutePath().normalize().toFile().getName()).toList();
    boolean areUnique = names.stream().distinct().count() == names.size();
    List<Recorded> runs = new ArrayList<>();
    for (Path folder : folders) {
      String name = areUnique ? names.get(runs.size()) : folder.toString();
      if (RunInputs.runsIn(folder).isEmpty()) {
        OtherRun other = OtherRun.read(folder);
        if (other == null) {
          throw new IOException(
              folder
                  + " has no run; expected folders with llm/run.json and llm/requests.jsonl in it,"
                  + " or results of another tool");
        }
        runs.add(new Recorded(name, other.info(), other));
        continue;
      }
      RunFiles files = new RunFiles(folder);
      files.requireRequests();
      RecordSource records = RunRecords.of(files, PrintableText::print);
      runs.add(new Recorded(name, files.requireInfo(), records));
    }
    return runs;
  }

  private ComparePage compare(List<Recorded> runs, List<FailCondition> conditions)
      throws IOException {
    Recorded first = runs.get(0);
    ComparedRun base = first.read(null);
    List<Compared> all = new ArrayList<>();
    all.add(new Compared(first.name, base.figures(), null, List.of(), base.tool()));
    for (Recorded other : runs.subList(1, runs.size())) {
      ComparedRun run = other.read(base.info());
      Comparison comparison = Comparison.of(base, run, runs.size() - 1);
      if (comparison.places().isEmpty()) {
        throw new IOException(
            other.name
                + " has no measured load level in common with "
                + first.name
                + "; compare runs of the same targets and load levels");
      }
      List<Judged> judged =
          conditions.stream().flatMap(c -> c.judge(comparison, allowsThin).stream()).toList();
      all.add(new Compared(other.name, run.figures(), comparison, judged, run.tool()));
    }
    return new ComparePage(all);
  }

  private static Map<TrendSeries, List<Step>> trend(List<Recorded> runs) throws IOException {
    runs.sort(Comparator.comparing(run -> run.info.startUnixNanos()));
    Trend trend = new Trend();
    for (Recorded run : runs) {
      trend.add(run.name, run.read(null));
    }
    return trend.series();
  }
}
