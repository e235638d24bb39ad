package io.github.gatlingllm.report;

import static java.util.stream.Collectors.joining;

import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.figures.check.ChecksTest;
import io.github.gatlingllm.figures.level.Levels;
import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.load.LevelResult;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.LoadPlan.LevelSource;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.load.StopRule.Repeats;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.settings.DryRun;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The words of a run of each kind, in one file that an editor can read: other tests look at ids and
 * values only. {@code -Dgatlingllm.docs.write=true} writes it again.
 */
class WordsTest {

  private static final Path WORDS = Path.of("src/test/resources/words.txt");

  @TempDir Path folder;

  @Test
  void wordsOfARunOfEachKind() throws IOException {
    Stream<String> all =
        Stream.of(plans(), conclusions(), verdicts(), checks(), comparison())
            .flatMap(lines -> Stream.concat(lines, Stream.of("")));
    ReferencePage.at(WORDS).mustBe(all.collect(joining("\n")));
  }

  private static Stream<String> plans() {
    LoadPlan search = LoadPlan.search(2, 0.05, 7, Phases.DEFAULT);
    LoadPlan.Sweep sweep =
        sweep().stopWhen(List.of(StopRule.sloBelow(50), StopRule.OVER_SATURATED));
    LoadPlan users = LoadPlan.searchUsers(2, 0.05, Phases.DEFAULT);
    return Stream.of(search, users, sweep, sweep().repeated(Repeats.parse("auto:3%"), 1))
        .map(
            plan -> {
              DryRun rows = new DryRun();
              rows.load(new PlanText(plan), "");
              return rows.toString();
            });
  }

  private static LoadPlan.Sweep sweep() {
    return new LoadPlan.Sweep(
        List.of(new LoadLevel.Closed(1, Phases.DEFAULT), new LoadLevel.Closed(8, Phases.DEFAULT)));
  }

  /** How plans end whose levels have these results. */
  private static Stream<String> conclusions() {
    LoadPlan search = LoadPlan.search(2, 0.5, 7, Phases.DEFAULT);
    LoadPlan users = LoadPlan.searchUsers(2, 0.5, Phases.DEFAULT);
    LoadPlan slo = sweep().stopWhen(List.of(StopRule.sloBelow(50)));
    LoadPlan queue = sweep().stopWhen(List.of(StopRule.OVER_SATURATED));
    LoadPlan repeats = sweep().repeated(Repeats.parse("auto:3%"), 1);
    return Stream.of(
        end(search, level -> met(level, level.offered() <= 3 ? 1 : 0, 600)),
        end(search, level -> met(level, level.offered() <= 3 ? 1 : 0, 100)),
        end(search, level -> met(level, level.offered() <= 3 ? 1 : 0.99, 600)),
        end(search, level -> met(level, 1, 600)),
        end(search, level -> met(level, 0, 600)),
        end(search, level -> waiting(level, level.offered() >= 3, false)),
        end(search, level -> waiting(level, true, true)),
        end(search, level -> result(level, 600, null, null)),
        end(search, level -> met(level, 1, 0)),
        end(users, level -> met(level, level.offered() <= 3 ? 1 : 0, 100)),
        end(users, level -> met(level, 0, 600)),
        end(slo, level -> met(level, 0.4, 100)),
        end(queue, level -> waiting(level, true, false)),
        end(repeats, level -> met(level, 1, 100)));
  }

  private static String end(LoadPlan plan, Function<LoadLevel, LevelResult> results) {
    LevelSource source = plan.source();
    for (LoadLevel level = source.next(null); level != null; ) {
      level = source.next(results.apply(level));
    }
    return source.conclusion().topic() + ": " + source.conclusion().text();
  }

  private static LevelResult met(LoadLevel level, double share, long requests) {
    return result(level, requests, Math.round(share * requests), null);
  }

  private static LevelResult waiting(LoadLevel level, boolean grows, boolean held) {
    return result(level, 600, 600L, new Queue(grows, held, 0, 41));
  }

  private static LevelResult result(LoadLevel level, long requests, Long met, Queue queue) {
    Map<String, Double> figures = Map.of("throughput", 98 + level.label().length() % 3 + 0.5);
    return new LevelResult(
        level.label(),
        requests,
        met,
        99,
        requests,
        0,
        0,
        queue,
        0,
        false,
        null,
        null,
        figures,
        Map.of());
  }

  private static Stream<String> verdicts() {
    return RunFiles.resource(Levels.class, "verdicts.csv")
        .lines()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.split("\\|", -1))
        .map(
            row ->
                row[0].strip()
                    + ": "
                    + Levels.of(row[2].strip())
                        .figures(Levels.slo(row[1].strip()))
                        .summary()
                        .verdict());
  }

  private static Stream<String> checks() {
    return ChecksTest.found()
        .map(
            check ->
                "%s %s: %s %s"
                    .formatted(check.level().key(), check.id(), check.message(), check.remedy())
                    .strip());
  }

  private Stream<String> comparison() throws IOException {
    for (String run : List.of("base", "again", "slower")) {
      new DemoRun(List.of(2, 8), List.of("local"), List.of("ask"))
          .seed(run.length())
          .slower(run.equals("slower") ? 1.3 : 1)
          .write(folder.resolve(run));
    }
    String[] arguments = {
      "compare",
      folder.resolve("base").toString(),
      folder.resolve("again").toString(),
      folder.resolve("slower").toString(),
      "--fail-on",
      "ttft.p95>+10%,c=9:tpot.p50>+10%"
    };
    return CommandLine.call(arguments).output().lines().filter(line -> !line.contains("file:"));
  }
}
