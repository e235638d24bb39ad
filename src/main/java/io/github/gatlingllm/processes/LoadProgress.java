package io.github.gatlingllm.processes;

import java.util.Collection;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

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
