package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.compare.Comparison;
import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.compare.Comparison.FailCondition;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunFiles.AtomicFile;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.report.ComparePage.Compared;
import io.github.gatlingllm.report.ComparePage.RunSide;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Compares runs with a base: {@code compare.html}, {@code compare.md}, and an exit code. */
@Command(
    name = "compare",
    description = "Compares runs with a base: what differs, what changed, and how clearly.",
    mixinStandardHelpOptions = true)
final class CompareCommand implements Callable<Integer> {

  @Parameters(
      index = "0",
      paramLabel = "<base>",
      description = "the base run: its folder or s3://bucket/prefix")
  private String first = ".";

  @Parameters(index = "1..*", arity = "1..*", paramLabel = "<run>", description = "other runs")
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
      description = "folder for compare.html and compare.md [the first other run]")
  private @Nullable Path out;

  @Override
  public Integer call() throws IOException {
    List<FailCondition> conditions =
        failOn.stream().flatMap(text -> FailCondition.parse(text).stream()).toList();
    Main.checkFolder(out);
    try (RunInputs one = from.inputs(List.of(first));
        RunInputs others = from.inputs(places)) {
      Path base = one.one();
      List<Path> runs = others.runs();
      if (out == null) {
        others.requireFolder(runs.get(0), "page");
      }
      return compared(base, runs, conditions);
    }
  }

  private int compared(Path base, List<Path> runs, List<FailCondition> conditions)
      throws IOException {
    ComparePage compared = compare(base, runs, conditions);
    Path directory = out == null ? runs.get(0) : Files.createDirectories(out);
    Path page = directory.resolve("compare.html");
    String markdown = compared.markdown();
    AtomicFile.write(directory.resolve("compare.md"), markdown);
    compared.write(page);
    RunReport.toJobPage(markdown, System.getenv(), PrintableText::print);
    for (Compared other : compared.others()) {
      PrintableText.print(other.side().name() + ": " + ChangeText.verdict(other));
      other.comparison().notes().forEach(PrintableText::print);
      ComparePage.unmatched(other).forEach(PrintableText::print);
      other.judged().forEach(judged -> PrintableText.print(ChangeText.judged(judged)));
    }
    PrintableText.print("LLM comparison: " + page.toAbsolutePath().toUri());
    return compared.hasFailed() ? Main.MISSED : 0;
  }

  private ComparePage compare(Path base, List<Path> runs, List<FailCondition> conditions)
      throws IOException {
    List<Path> all = new ArrayList<>(List.of(base));
    all.addAll(runs);
    for (Path run : all) {
      new RunFiles(run).requireRequests();
    }
    List<String> names = names(all);
    ComparedRun first = read(base, null);
    List<Compared> others = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      ComparedRun other = read(runs.get(i), first.info());
      Comparison comparison = Comparison.of(first, other, runs.size());
      if (comparison.places().isEmpty()) {
        throw new IOException(
            names.get(i + 1)
                + " has no measured load level in common with "
                + names.get(0)
                + "; compare runs of the same targets and load levels");
      }
      others.add(
          new Compared(
              new RunSide(names.get(i + 1), other.figures()),
              comparison,
              conditions.stream().flatMap(c -> c.judge(comparison, allowThin).stream()).toList()));
    }
    return new ComparePage(new RunSide(names.get(0), first.figures()), others);
  }

  /** Display names of runs: the names of their folders if these differ, else the whole paths. */
  private static List<String> names(List<Path> runs) {
    List<String> names =
        runs.stream().map(run -> run.toAbsolutePath().normalize().toFile().getName()).toList();
    return names.stream().distinct().count() == names.size()
        ? names
        : runs.stream().map(Path::toString).toList();
  }

  private static ComparedRun read(Path run, @Nullable RunInfo judge) throws IOException {
    RunFiles files = new RunFiles(run);
    return ComparedRun.read(files.requireInfo(), judge, RunRecords.of(files, PrintableText::print));
  }
}
