package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.RequestSamples.Exemplar;
import io.github.gatlingllm.figures.level.RequestSamples.Exemplars;
import io.github.gatlingllm.figures.level.RequestSamples.RecordedText;
import io.github.gatlingllm.figures.level.RequestSamples.ServerParts;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the slowest ok requests, the fastest one, and the longest failed requests of each cause.
 * Ties are broken by the request id, so that the order of records does not matter; it does for the
 * causes of failure beyond {@value #MOST}, which are kept as one.
 */
final class ExemplarTally {

  /** Number of slow requests that are kept, and of failed ones. */
  static final int MOST = 12;

  private static final int MAX_FAILED_TEXTS = 3;
  private static final int MAX_CHARS = 2_000;

  private final long origin;
  private final TreeSet<Kept> slowest = new TreeSet<>(Kept.LONGEST_FIRST);
  private final Map<Cause, TreeSet<Kept>> failed = new TreeMap<>(Cause.IN_ORDER);
  private @Nullable Kept fastest;

  private record Cause(String verdict, @Nullable String message) {
    private static final Cause OTHER = new Cause("other", null);

    private static final Comparator<Cause> IN_ORDER =
        Comparator.comparing(Cause::verdict)
            .thenComparing(Cause::message, Comparator.nullsFirst(Comparator.naturalOrder()));
  }

  private record Kept(RequestRecord record, LevelInfo level, long nanos) {
    private static final Comparator<Kept> LONGEST_FIRST =
        Comparator.comparingLong(Kept::nanos)
            .reversed()
            .thenComparing(kept -> kept.record.identity().requestId());
  }

  ExemplarTally(long origin) {
    this.origin = origin;
  }

  void add(RequestRecord record, LevelInfo level) {
    RequestRecord.Outcome outcome = record.outcome();
    Long latency = record.timing().latencyFromScheduleNanos();
    if (outcome.ok() && latency != null) {
      Kept ok = new Kept(record, level, latency);
      keep(slowest, ok);
      fastest = fastest == null || Kept.LONGEST_FIRST.compare(ok, fastest) > 0 ? ok : fastest;
    } else if (outcome.hasFailed()) {
      Cause cause = new Cause(outcome.status().key(), outcome.error());
      if (failed.size() >= MOST && !failed.containsKey(cause)) {
        cause = Cause.OTHER;
      }
      TreeSet<Kept> same = failed.computeIfAbsent(cause, c -> new TreeSet<>(Kept.LONGEST_FIRST));
      keep(same, new Kept(record, level, overNanos(record)));
    }
  }

  private static void keep(NavigableSet<Kept> kept, Kept more) {
    kept.add(more);
    if (kept.size() > MOST) {
      kept.pollLast();
    }
  }

  private static long overNanos(RequestRecord record) {
    RequestRecord.Timing t = record.timing();
    Long closed = t.closedNanos();
    Long wait = t.gateWaitNanos();
    return t.startLagNanos() + (wait == null ? 0 : wait) + (closed == null ? 0 : closed);
  }

  Exemplars exemplars() {
    List<Kept> some = new ArrayList<>();
    for (int rank = 0; rank < MOST; rank++) {
      int skipped = rank;
      failed.values().forEach(same -> same.stream().skip(skipped).limit(1).forEach(some::add));
    }
    return new Exemplars(
        slowest.stream().map(this::exemplar).toList(),
        some.stream().limit(MOST).map(this::exemplar).toList(),
        texts());
  }

  private Exemplar exemplar(Kept kept) {
    RequestRecord record = kept.record;
    RequestRecord.Identity id = record.identity();
    RequestRecord.Timing t = record.timing();
    Long wait = t.queueWaitNanos();
    Long gap = record.events().longestGapNanos();
    ServerParts server = ServerParts.of(record);
    return new Exemplar(
        id.requestId(),
        id.name(),
        kept.level,
        (t.scheduledUnixNanos() - origin) / 1e9,
        record.outcome().status().key(),
        record.outcome().error(),
        wait == null ? null : (Double) (wait / 1e6),
        sum(wait, t.connectNanos()),
        sum(wait, t.ttftNanos()),
        kept.nanos / 1e6,
        record.tokens().outputTokens(),
        gap == null ? null : (Double) (gap / 1e6),
        server.isEmpty() ? null : server,
        record.events().count(),
        wait == null ? List.of() : marks(record.events().offsetsMicros(), wait / 1e6));
  }

  private static @Nullable Double sum(@Nullable Long wait, @Nullable Long since) {
    return wait == null || since == null ? null : (Double) ((wait + since) / 1e6);
  }

  /**
   * The times of token events in ms, ascending. Events that follow each other too closely to be
   * told apart in a chart are thinned out, so that both ends of each longer gap are left.
   *
   * @param micros since the request was admitted
   * @param admittedMs added to each
   */
  static List<Double> marks(int[] micros, double admittedMs) {
    List<Double> marks = new ArrayList<>();
    int step = micros.length == 0 ? 0 : (micros[micros.length - 1] - micros[0]) / 120;
    int latest = 0;
    for (int i = 0; i < micros.length; i++) {
      boolean isLast = i + 1 == micros.length;
      if (i == 0 || isLast || micros[i] - latest >= step || micros[i + 1] - micros[i] >= step) {
        latest = micros[i];
        marks.add(admittedMs + latest / 1e3);
      }
    }
    return marks;
  }

  /** The texts of the fastest and the slowest request, and of a failed one of each status. */
  private List<RecordedText> texts() {
    List<RecordedText> texts = new ArrayList<>();
    if (fastest != null) {
      addText("Fastest", fastest, texts);
      if (!slowest.first().equals(fastest)) {
        addText("Slowest", slowest.first(), texts);
      }
    }
    Set<String> statuses = new HashSet<>();
    failed.forEach(
        (cause, same) -> {
          if (statuses.size() < MAX_FAILED_TEXTS && statuses.add(cause.verdict)) {
            addText("Failed", same.first(), texts);
          }
        });
    return texts;
  }

  private void addText(String why, Kept kept, List<RecordedText> into) {
    RequestRecord.Text text = kept.record.text();
    if (text != null) {
      String prompt = cut(text.readablePrompt());
      into.add(
          new RecordedText(why, exemplar(kept), prompt, cut(text.reasoning()), cut(text.answer())));
    }
  }

  /** At most {@value #MAX_CHARS} characters, from the beginning and the end of a text. */
  private static String cut(@Nullable String text) {
    if (text == null || text.length() <= MAX_CHARS) {
      return text == null ? "" : text;
    }
    int head = whole(text, MAX_CHARS * 6 / 10);
    int tail = whole(text, text.length() - MAX_CHARS * 4 / 10);
    String left = NumberText.count(tail - head);
    return text.substring(0, head) + " […" + left + " characters…] " + text.substring(tail);
  }

  /** A position, or the one before where it would split a surrogate pair. */
  private static int whole(String text, int at) {
    return Character.isLowSurrogate(text.charAt(at)) ? at - 1 : at;
  }
}
