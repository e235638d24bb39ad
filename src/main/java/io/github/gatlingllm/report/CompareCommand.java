package io.github.gatlingllm.report;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.compare.Comparison;
import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.compare.Comparison.FailCondition;
import io.github.gatlingllm.figures.compare.Comparison.Trend;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunFiles.AtomicFile;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.report.ComparePage.Compared;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
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
    description = {
      "compare: compares runs with a base: what differs, what changed, and how clearly.",
      "trend: shows the figures of many runs over time, and which differ beyond chance."
    },
    customSynopsis = {
      "gatling-llm compare [-hV] [--allow-thin] [--cache=<dir>] [--fail-on=<conditions>]..."
          + " [--out=<dir>] <base> <run>...",
      "gatling-llm trend [-hV] [--cache=<dir>] [--out=<dir>] <runs>..."
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
          "compare: the base run, then others; trend: folders below which the runs are; each a"
              + " folder or s3://bucket/prefix")
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
  private boolean allowThin;

  @Option(
      names = "--out",
      paramLabel = "<dir>",
      description =
          "folder for the page and its text [the first other run; of trend the first folder]")
  private @Nullable Path out;

  @Override
  public Integer call() throws IOException {
    boolean isTrend = isTrend();
    List<FailCondition> conditions =
        failOn.stream().flatMap(text -> FailCondition.parse(text).stream()).toList();
    Main.checkFolder(out);
    int bases = isTrend ? 0 : 1;
    try (RunInputs base = from.inputs(places.subList(0, bases));
        RunInputs others = from.inputs(places.subList(bases, places.size()))) {
      List<Path> runs = new ArrayList<>(isTrend ? List.of() : List.of(base.one()));
      runs.addAll(others.runs());
      Path first = others.runs().get(0);
      if (out == null) {
        others.requireFolder(first, "page");
      }
      Map<Path, RunInfo> infos = infos(runs);
      ComparePage page = isTrend ? trend(runs, infos) : compare(runs, infos, conditions);
      Path folder = isTrend ? Path.of(places.get(0)) : first;
      return write(page, out == null ? folder : Files.createDirectories(out));
    }
  }

  /** The name by which the command was called. */
  private boolean isTrend() {
    CommandLine called = requireNonNull(spec).commandLine();
    boolean isTrend = called.getParent().getParseResult().originalArgs().get(0).equals(TREND);
    if (isTrend && (allowThin || !failOn.isEmpty())) {
      throw new ParameterException(
          called, "--fail-on and --allow-thin are options of compare; trend has no gates");
    }
    if (!isTrend && places.size() < 2) {
      throw new ParameterException(
          called,
          "Missing required parameter: '<run>'; expected a base and at least one other run");
    }
    return isTrend;
  }

  private static int write(ComparePage page, Path folder) throws IOException {
    String name = page.isTrend() ? TREND : COMPARE;
    Path html = folder.resolve(name + ".html");
    AtomicFile.write(folder.resolve(name + (page.isTrend() ? ".json" : ".md")), page.text());
    page.page().write(html);
    if (!page.isTrend()) {
      RunReport.toJobPage(page.text(), System.getenv(), PrintableText::print);
    }
    page.lines().forEach(PrintableText::print);
    PrintableText.print(page.title() + ": " + html.toAbsolutePath().normalize().toUri());
    return page.hasFailed() ? Main.MISSED : 0;
  }

  private ComparePage compare(
      List<Path> runs, Map<Path, RunInfo> infos, List<FailCondition> conditions)
      throws IOException {
    List<String> names = names(runs);
    ComparedRun base = read(runs.get(0), infos, null);
    List<Compared> all = new ArrayList<>();
    all.add(new Compared(names.get(0), base.figures(), null, List.of()));
    for (int i = 1; i < runs.size(); i++) {
      ComparedRun run = read(runs.get(i), infos, base.info());
      Comparison comparison = Comparison.of(base, run, runs.size() - 1);
      if (comparison.places().isEmpty()) {
        throw new IOException(
            names.get(i)
                + " has no measured load level in common with "
                + names.get(0)
                + "; compare runs of the same targets and load levels");
      }
      all.add(
          new Compared(
              names.get(i),
              run.figures(),
              comparison,
              conditions.stream().flatMap(c -> c.judge(comparison, allowThin).stream()).toList()));
    }
    return ComparePage.of(all);
  }

  private static ComparePage trend(List<Path> runs, Map<Path, RunInfo> infos) throws IOException {
    runs.sort(Comparator.comparing(run -> requireNonNull(infos.get(run)).startUnixNanos()));
    List<String> names = names(runs);
    Trend trend = new Trend();
    for (int i = 0; i < runs.size(); i++) {
      trend.add(names.get(i), read(runs.get(i), infos, null));
    }
    return ComparePage.of(trend);
  }

  private static Map<Path, RunInfo> infos(List<Path> runs) throws IOException {
    Map<Path, RunInfo> infos = new HashMap<>();
    for (Path run : runs) {
      if (RunInputs.runsIn(run).isEmpty()) {
        throw new IOException(
            run + " has no run; expected folders with llm/run.json and llm/requests.jsonl in it");
      }
      RunFiles files = new RunFiles(run);
      files.requireRequests();
      infos.put(run, files.requireInfo());
    }
    return infos;
  }

  private static ComparedRun read(Path run, Map<Path, RunInfo> infos, @Nullable RunInfo judge)
      throws IOException {
    RunRecords records = RunRecords.of(new RunFiles(run), PrintableText::print);
    return ComparedRun.read(requireNonNull(infos.get(run)), judge, records);
  }

  /** Display names of runs: the names of their folders if these differ, else the whole paths. */
  private static List<String> names(List<Path> runs) {
    List<String> names =
        runs.stream().map(run -> run.toAbsolutePath().normalize().toFile().getName()).toList();
    return names.stream().distinct().count() == names.size()
        ? names
        : runs.stream().map(Path::toString).toList();
  }
}
