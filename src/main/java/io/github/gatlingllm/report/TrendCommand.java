package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.compare.Comparison.Trend;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunFiles.AtomicFile;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows figures over many runs: {@code trend.html} and {@code trend.json}. */
@Command(
    name = "trend",
    description = "Shows the figures of many runs over time, and which differ beyond chance.",
    mixinStandardHelpOptions = true)
final class TrendCommand implements Callable<Integer> {

  @Parameters(
      arity = "1..*",
      paramLabel = "<runs>",
      description = "folders below which the runs are, or s3://bucket/prefix")
  private List<String> places = new ArrayList<>();

  @Mixin private Main.Places from = new Main.Places();

  @Option(
      names = "--out",
      paramLabel = "<dir>",
      description = "folder for trend.html and trend.json [the first <runs>]")
  private @Nullable Path out;

  private record Recorded(Path folder, RunInfo info) {}

  @Override
  public Integer call() throws IOException {
    Main.checkFolder(out);
    try (RunInputs inputs = from.inputs(places)) {
      List<Path> found = inputs.runs();
      if (out == null) {
        inputs.requireFolder(found.get(0), "page");
      }
      Path folder = out == null ? Path.of(places.get(0)) : Files.createDirectories(out);
      List<Recorded> runs = new ArrayList<>();
      for (Path run : found) {
        RunFiles files = new RunFiles(run);
        if (RunInputs.runsIn(run).isEmpty()) {
          throw new IOException(
              run + " has no run; expected folders with llm/run.json and llm/requests.jsonl in it");
        }
        files.requireRequests();
        runs.add(new Recorded(run, files.requireInfo()));
      }
      runs.sort(Comparator.comparing(run -> run.info.startUnixNanos()));
      TrendPage page = new TrendPage(trend(runs));
      AtomicFile.write(folder.resolve("trend.json"), page.json());
      page.write(folder.resolve("trend.html"));
      page.marks().forEach(PrintableText::print);
      PrintableText.print(
          "LLM trend: " + folder.resolve("trend.html").toAbsolutePath().normalize().toUri());
      return 0;
    }
  }

  private static Trend trend(List<Recorded> runs) throws IOException {
    Trend trend = new Trend();
    for (Recorded run : runs) {
      RunFiles files = new RunFiles(run.folder);
      String name = run.folder.toAbsolutePath().normalize().toFile().getName();
      trend.add(name, ComparedRun.read(run.info, null, RunRecords.of(files, PrintableText::print)));
    }
    return trend;
  }
}
