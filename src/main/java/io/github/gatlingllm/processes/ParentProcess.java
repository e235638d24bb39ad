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
 * The process that started this one for a share of the load, as this one sees it: its standard
 * output is told how the load goes, on standard input it says when the load starts. Where that ends
 * the other process is gone, however that ended, and this one ends too.
 */
public final class ParentProcess {

  /** System property of a process that was started for a share. */
  static final String PROPERTY = "gatlingllm.injectorProcess";

  private static @Nullable ParentProcess ofProcess;

  private final PrintStream out;
  private final CompletableFuture<Long> start = new CompletableFuture<>();

  private ParentProcess(InputStream in, PrintStream out, Runnable end) {
    this.out = out;
    Thread reading = new Thread(() -> read(in, end), "llm-parent");
    reading.setDaemon(true);
    reading.start();
  }

  /** That of this process; null where a user started it. */
  public static synchronized @Nullable ParentProcess ofProcess() {
    if (ofProcess == null && Boolean.getBoolean(PROPERTY)) {
      ofProcess = new ParentProcess(System.in, System.out, ParentProcess::endProcess);
    }
    return ofProcess;
  }

  /** As after a SIGTERM: what is there is kept. */
  @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
  private static void endProcess() {
    System.exit(1);
  }

  private void read(InputStream in, Runnable end) {
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(in, UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        start.complete(Long.parseLong(line));
      }
    } catch (IOException e) {
      // As good as its end.
    }
    end.run();
  }

  /**
   * Tells that all is ready for the load, and waits until it is known when it starts.
   *
   * @return that instant, nanoseconds since 1970
   */
  public long awaitStart() {
    out.println(InjectorProcesses.READY);
    return start.join();
  }

  /** Tells how the load goes. */
  public void tell(LoadProgress progress) {
    out.println(progress);
  }

  /**
   * How the load of one injector goes, as a line from its process to the one that started it.
   *
   * @param where load level and phase, in words; empty where there is none
   * @param inFlight requests admitted and not ended
   * @param ok requests that succeeded, of the level
   * @param failed requests that failed, of the level
   * @param tokensPerSecond output tokens, over the last seconds
   */
  public record LoadProgress(
      String where, long inFlight, long ok, long failed, double tokensPerSecond) {

    private static final Pattern LINE =
        Pattern.compile(
            "gatling-llm progress: in flight (\\d+), ok (\\d+), failed (\\d+), tok/s ([\\d.]+),"
                + " (.*)");

    /** The line; {@link #of} reads it. */
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

    /** What a line says; null for any other line. */
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

    /** What several say together, in the words of the first of them. */
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
