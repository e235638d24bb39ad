package io.github.gatlingllm.processes;

import io.github.gatlingllm.processes.InjectorProcesses.Outcome;
import io.github.gatlingllm.record.InjectorShare;
import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.report.Main;
import io.github.gatlingllm.run.live.LiveView;
import io.github.gatlingllm.storage.S3Location;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A load test by several injectors on this machine: this process starts a process like itself for
 * each share of the load, waits for them, and joins their runs into one. It sends no requests
 * itself.
 *
 * <pre>
 * results/benchmark-20261122133848500/                 the joined run
 * results/benchmark-20261122133848500/injectors/1/     output.txt, and the folder of the first
 *                                                      injector's own run
 * </pre>
 */
public final class LocalInjectors {

  /** System property of their number; {@code LLM_INJECTORS} in the environment. */
  public static final String PROPERTY = "llm.injectors";

  /**
   * System property of injectors: the base URL of the embedded engine, which the first process has
   * started.
   */
  public static final String ENGINE_PROPERTY = "gatlingllm.engine";

  /** Largest number of injectors: a guard against typing errors. */
  public static final int MOST = 256;

  /** Longest time that a JVM which was told to end waits for the joined run. */
  private static final long MERGING_SECONDS = 300;

  private static final int FAILED = 1;
  private static final int MISSED = 2;

  private LocalInjectors() {}

  /**
   * The setting {@code injectors}; 1, by default, where this process sends the load itself.
   *
   * @throws IllegalArgumentException in one line, if it is no number of injectors
   */
  public static int count() {
    return number(new ProcessSetting(PROPERTY).text());
  }

  static int number(@Nullable String text) {
    int count = text == null ? 1 : text.matches("\\d{1,3}") ? Integer.parseInt(text) : 0;
    if (count < 1 || count > MOST) {
      throw new IllegalArgumentException(
          PROPERTY + "=" + text + ": expected how many processes, 1 to " + MOST);
    }
    return count;
  }

  /**
   * Runs the load test to its end.
   *
   * @param count number of injectors
   * @param simulation name of its class
   * @param directory folder of this process's own run, which the joined run replaces
   * @param seed for everything without a seed of its own, the same in all injectors
   * @return the exit code: of the joined run; 1 where an injector failed; 2 where one missed
   *     Gatling's own assertions
   * @throws IllegalArgumentException in one line, if another setting of the process is invalid
   * @throws IOException if a process cannot be started, or the joined run cannot be written
   */
  public static int run(int count, String simulation, Path directory, long seed)
      throws IOException, InterruptedException {
    Path work = directory.resolveSibling(directory.getFileName() + "-injectors");
    Map<String, String> own = ownProperties(seed);
    InjectorCommand command = InjectorCommand.ofProcess(simulation, count);
    InjectorProcesses processes = new InjectorProcesses(LocalInjectors::say, LocalInjectors::now);
    CountDownLatch ended = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(processes, ended), "llm-injectors"));
    try {
      say(
          "LLM injectors: %s processes of %s of the machine's %s processors each"
              .formatted(count, command.processors(), Runtime.getRuntime().availableProcessors()));
      for (int index = 1; index <= count; index++) {
        InjectorShare share = new InjectorShare(index, count);
        Path results = Files.createDirectories(work.resolve(Integer.toString(index)));
        ProcessBuilder builder = new ProcessBuilder(command.words(share, results, own));
        command.prepare(builder.environment());
        processes.start(share, builder, results.resolve("output.txt"));
      }
      List<Outcome> outcomes = processes.await();
      if (!processes.isStarted()) {
        say("LLM injectors: no load was sent; the output of each is in " + work);
        return FAILED;
      }
      return joined(outcomes, directory, work, processes.isStopped());
    } finally {
      ended.countDown();
    }
  }

  private static Map<String, String> ownProperties(long seed) {
    Map<String, String> own = new TreeMap<>();
    own.put("llm.seed", Long.toString(seed));
    if (LiveView.Options.of(System.getProperties(), System.getenv()).page() != null) {
      own.put(LiveView.Options.PAGE_PROPERTY, "0"); // any free port, as each has a page
    }
    return own;
  }

  private static int joined(List<Outcome> outcomes, Path directory, Path work, boolean isStopped)
      throws IOException {
    List<String> merge = new ArrayList<>(List.of("merge"));
    for (Outcome outcome : outcomes) {
      Path run = runIn(work.resolve(Integer.toString(outcome.share().index())));
      if (run == null) {
        say("LLM injector %s left no records".formatted(outcome.share()));
      } else {
        merge.add(run.toString());
      }
    }
    delete(directory);
    merge.addAll(
        List.of(
            "--out",
            directory.toString(),
            "--expect",
            Integer.toString(outcomes.size()),
            "--fail-as-run"));
    S3Location uploadTo = S3Location.ofProcess(System.getProperties(), System.getenv());
    if (uploadTo != null) {
      merge.addAll(List.of("--upload", uploadTo.toString()));
    }
    int code = Main.execute(merge.toArray(String[]::new));
    if (Files.isDirectory(directory)) {
      Files.move(work, directory.resolve("injectors"));
    }
    if (isStopped) {
      return code;
    }
    outcomes.stream()
        .filter(outcome -> outcome.exitCode() == MISSED)
        .forEach(
            outcome ->
                say(
                    "LLM injector %s missed assertions of Gatling's own, which each injector judges"
                            .formatted(outcome.share())
                        + " by its share"));
    boolean failed = outcomes.stream().anyMatch(Outcome::failed);
    boolean missed = outcomes.stream().anyMatch(outcome -> outcome.exitCode() == MISSED);
    return failed ? FAILED : code == 0 && missed ? MISSED : code;
  }

  /** The folder of an injector's run; null where there is none. */
  private static @Nullable Path runIn(Path results) throws IOException {
    try (Stream<Path> all = Files.list(results)) {
      return all.filter(run -> Files.exists(run.resolve("llm").resolve("run.json")))
          .findFirst()
          .orElse(null);
    }
  }

  /** Deletes the folder that Gatling has made for this process, which sends no requests. */
  private static void delete(Path directory) throws IOException {
    Files.deleteIfExists(directory.resolve("simulation.log"));
    Files.deleteIfExists(directory);
  }

  private static void stop(InjectorProcesses processes, CountDownLatch ended) {
    if (ended.getCount() > 0) {
      processes.stop();
      try {
        var unused = ended.await(MERGING_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void say(String line) {
    System.out.println(line);
  }

  private static long now() {
    return ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now());
  }
}
