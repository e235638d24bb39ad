package io.github.gatlingllm.processes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Collection;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The connection of an injector to the process that has started it. Standard output carries
 * progress to the parent, standard input the start of the load from it. When standard input ends
 * the parent is gone, and this process ends as well.
 */
public final class ParentProcess {

  /** System property of a process that another one has started for a share of the load. */
  static final String PROPERTY = "gatlingllm.injectorProcess";

  private static @Nullable ParentProcess ofProcess;

  private final PrintStream out;
  private final CompletableFuture<Long> start = new CompletableFuture<>();

  ParentProcess(InputStream in, PrintStream out, Runnable end) {
    this.out = out;
    Thread reading = new Thread(() -> read(in, end), "llm-parent");
    reading.setDaemon(true);
    reading.start();
  }

  /** The parent of this process; null where a user has started it. */
  public static synchronized @Nullable ParentProcess ofProcess() {
    if (ofProcess == null && Boolean.getBoolean(PROPERTY)) {
      ofProcess = new ParentProcess(System.in, System.out, ParentProcess::endProcess);
    }
    return ofProcess;
  }

  /** Ends as after a SIGTERM: records and report are kept. */
  @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
  private static void endProcess() {
    System.exit(1);
  }

  private void read(InputStream in, Runnable end) {
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(in, UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        start.complete(Long.parseLong(line));
      }
    } catch (IOException | NumberFormatException e) {
      // The parent died, maybe within a line.
    }
    end.run();
  }

  /**
   * Reports that this injector is ready for the load, and waits for the start of the load.
   *
   * @return when the load starts, nanoseconds since 1970
   */
  public long awaitStart() {
    out.println(InjectorProcesses.READY);
    return start.join();
  }

  /** Reports the progress of the load. */
  public void report(LoadProgress progress) {
    out.println(progress);
  }

  /**
   * The progress of one injector's load, as a line from its process to the parent.
   *
   * @param where load level and phase, for people; empty between load levels
   * @param inFlight requests admitted and not ended
   * @param ok requests of the load level that succeeded
   * @param failed requests of the load level that failed
   * @param tokensPerSecond output tokens per second, over the last seconds
   */
  public record LoadProgress(
      String where, long inFlight, long ok, long failed, double tokensPerSecond) {

    private static final Pattern LINE =
        Pattern.compile(
            "gatling-llm progress: in flight (\\d+), ok (\\d+), failed (\\d+), tok/s ([\\d.]+),"
                + " (.*)");

    /** The line, which {@link #of} parses. */
    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "gatling-llm progress: in flight %d, ok %d, failed %d, tok/s %.1f, %s",
          inFlight,
          ok,
          failed,
          tokensPerSecond,
          where);
    }

    /** Parses a line; null for a line of another kind. */
    static @Nullable LoadProgress of(String line) {
      Matcher form = LINE.matcher(line);
      return form.matches()
          ? new LoadProgress(
              form.group(5),
              Long.parseLong(form.group(1)),
              Long.parseLong(form.group(2)),
              Long.parseLong(form.group(3)),
              Double.parseDouble(form.group(4)))
          : null;
    }

    /** The sum of all, with the load level of the first. */
    static LoadProgress sum(Collection<LoadProgress> all) {
      return new LoadProgress(
          all.stream().map(LoadProgress::where).findFirst().orElse(""),
          all.stream().mapToLong(LoadProgress::inFlight).sum(),
          all.stream().mapToLong(LoadProgress::ok).sum(),
          all.stream().mapToLong(LoadProgress::failed).sum(),
          all.stream().mapToDouble(LoadProgress::tokensPerSecond).sum());
    }
  }
}
