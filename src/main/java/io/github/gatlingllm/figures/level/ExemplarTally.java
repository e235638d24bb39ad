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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the slowest ok requests, and the longest failed requests of each cause. Ties are broken by
 * the request id, so that the order of records does not matter; it does for the causes of failure
 * beyond {@value #MOST}, which are kept as one.
 */
final class ExemplarTally {

  /** Number of slow requests that are kept, and of failed ones. */
  static final int MOST = 12;

  private static final Comparator<Cause> CAUSES =
      Comparator.comparing(Cause::verdict)
          .thenComparing(Cause::message, Comparator.nullsFirst(Comparator.naturalOrder()));

  private final long origin;
  private final PriorityQueue<Kept> slowest = queue();
  private final Map<Cause, PriorityQueue<Kept>> failed = new HashMap<>();
  private final Texts texts = new Texts();

  private record Cause(String verdict, @Nullable String message) {
    private static final Cause OTHER = new Cause("other", null);
  }

  private record Kept(long nanos, Exemplar exemplar) {
    private String id() {
      return exemplar.requestId();
    }
  }

  ExemplarTally(long origin) {
    this.origin = origin;
  }

  private static PriorityQueue<Kept> queue() {
    return new PriorityQueue<>(
        Comparator.comparingLong(Kept::nanos)
            .thenComparing(Comparator.comparing(Kept::id).reversed()));
  }

  void add(RequestRecord record, LevelInfo level) {
    RequestRecord.Outcome outcome = record.outcome();
    if (outcome.ok()) {
      Long latency = record.timing().latencyFromScheduleNanos();
      if (latency != null) {
        keep(slowest, record, level, latency);
        texts.add(record, level, latency);
      }
    } else if (outcome.hasFailed()) {
      Cause cause = new Cause(outcome.status().key(), outcome.error());
      if (failed.size() >= MOST && !failed.containsKey(cause)) {
        cause = Cause.OTHER;
      }
      keep(failed.computeIfAbsent(cause, c -> queue()), record, level, overNanos(record));
      texts.add(record, level, overNanos(record));
    }
  }

  private void keep(PriorityQueue<Kept> queue, RequestRecord record, LevelInfo level, long nanos) {
    Kept least = queue.peek();
    if (queue.size() >= MOST && least != null && nanos < least.nanos()) {
      return;
    }
    queue.add(new Kept(nanos, exemplar(record, level, nanos)));
    if (queue.size() > MOST) {
      queue.remove();
    }
  }

  private static long overNanos(RequestRecord record) {
    RequestRecord.Timing t = record.timing();
    Long closed = t.closedNanos();
    Long wait = t.gateWaitNanos();
    return t.startLagNanos() + (wait == null ? 0 : wait) + (closed == null ? 0 : closed);
  }

  private Exemplar exemplar(RequestRecord record, LevelInfo level, long endNanos) {
    RequestRecord.Identity id = record.identity();
    RequestRecord.Timing t = record.timing();
    Long wait = t.queueWaitNanos();
    Long gap = record.events().longestGapNanos();
    ServerParts server = ServerParts.of(record);
    return new Exemplar(
        id.requestId(),
        id.name(),
        level.label(),
        level.target(),
        level.scenario(),
        (t.scheduledUnixNanos() - origin) / 1e9,
        record.outcome().status().key(),
        record.outcome().error(),
        wait == null ? null : (Double) (wait / 1e6),
        sum(wait, t.connectNanos()),
        sum(wait, t.ttftNanos()),
        endNanos / 1e6,
        record.tokens().outputTokens(),
        gap == null ? null : (Double) (gap / 1e6),
        server.isEmpty() ? null : server,
        record.events().count(),
        wait == null ? List.of() : EventMarks.of(record.events().offsetsMicros(), wait / 1e6));
  }

  private static @Nullable Double sum(@Nullable Long wait, @Nullable Long since) {
    return wait == null || since == null ? null : (Double) ((wait + since) / 1e6);
  }

  Exemplars exemplars() {
    List<List<Exemplar>> byCause =
        failed.entrySet().stream()
            .sorted(Map.Entry.comparingByKey(CAUSES))
            .map(cause -> descending(cause.getValue()))
            .toList();
    List<Exemplar> some = new ArrayList<>();
    for (int rank = 0; rank < MOST; rank++) {
      for (List<Exemplar> cause : byCause) {
        if (rank < cause.size() && some.size() < MOST) {
          some.add(cause.get(rank));
        }
      }
    }
    return new Exemplars(descending(slowest), some, texts.texts());
  }

  private static List<Exemplar> descending(PriorityQueue<Kept> queue) {
    return queue.stream()
        .sorted(Comparator.comparingLong(Kept::nanos).reversed().thenComparing(Kept::id))
        .map(Kept::exemplar)
        .toList();
  }

  /**
   * Prompts and answers of the fastest, the median and the slowest request, and of one failed
   * request for each of the first {@value #MAX_FAILED} statuses. The median is that of a sample:
   * the {@value #SAMPLE} requests with the smallest hash of their id.
   */
  private final class Texts {

    private static final int SAMPLE = 63;
    private static final int MAX_FAILED = 3;
    private static final int MAX_CHARS = 2_000;

    private final TreeMap<Long, Sample> sample = new TreeMap<>();
    private final TreeMap<String, Sample> failed = new TreeMap<>();
    private @Nullable Sample fastest;
    private @Nullable Sample slowest;

    private record Sample(long nanos, long hash, RecordedText text) {}

    void add(RequestRecord record, LevelInfo level, long nanos) {
      RequestRecord.Text text = record.text();
      if (text == null) {
        return;
      }
      long hash = hash(record.identity().requestId());
      if (!record.outcome().ok()) {
        String key = record.outcome().status().key();
        Sample known = failed.get(key);
        if (known == null || hash < known.hash) {
          failed.put(key, kept("Failed", record, level, text, nanos, hash));
        }
        return;
      }
      if (fastest == null || isBefore(nanos, hash, fastest)) {
        fastest = kept("Fastest", record, level, text, nanos, hash);
      }
      if (slowest == null || !isBefore(nanos, hash, slowest)) {
        slowest = kept("Slowest", record, level, text, nanos, hash);
      }
      if (sample.size() < SAMPLE || hash < sample.lastKey()) {
        sample.put(hash, kept("Median", record, level, text, nanos, hash));
        if (sample.size() > SAMPLE) {
          sample.pollLastEntry();
        }
      }
    }

    /** A hash of a request id, the same on every machine. */
    private static long hash(String id) {
      return new SplittableRandom(id.hashCode()).nextLong() >>> 1;
    }

    private static boolean isBefore(long nanos, long hash, Sample other) {
      return nanos != other.nanos ? nanos < other.nanos : hash < other.hash;
    }

    private Sample kept(
        String why,
        RequestRecord record,
        LevelInfo level,
        RequestRecord.Text text,
        long nanos,
        long hash) {
      return new Sample(
          nanos,
          hash,
          new RecordedText(
              why,
              exemplar(record, level, nanos),
              cut(text.readablePrompt()),
              cut(text.reasoning()),
              cut(text.answer())));
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

    List<RecordedText> texts() {
      List<RecordedText> all = new ArrayList<>();
      List<Sample> middle =
          sample.values().stream()
              .sorted(Comparator.comparingLong(Sample::nanos).thenComparingLong(Sample::hash))
              .toList();
      if (fastest != null && slowest != null) {
        all.add(fastest.text);
        if (middle.size() > 2) {
          all.add(middle.get((middle.size() - 1) / 2).text);
        }
        if (slowest.hash != fastest.hash) {
          all.add(slowest.text);
        }
      }
      failed.values().stream().limit(MAX_FAILED).map(Sample::text).forEach(all::add);
      return all;
    }
  }

  /** The times of a request's token events, thinned out where there are too many to draw. */
  static final class EventMarks {

    /** Most marks of one request. */
    static final int MOST = 240;

    private static final int LONG_GAPS = 40;

    private EventMarks() {}

    /**
     * The times in ms, ascending. Of more than {@value #MOST} events: an even part, and both ends
     * of the {@value #LONG_GAPS} longest gaps.
     *
     * @param micros since the request was admitted
     * @param admittedMs added to each
     */
    static List<Double> of(int[] micros, double admittedMs) {
      List<Double> marks = new ArrayList<>();
      for (int i : places(micros)) {
        marks.add(admittedMs + micros[i] / 1e3);
      }
      return marks;
    }

    private static Iterable<Integer> places(int[] micros) {
      if (micros.length <= MOST) {
        return IntStream.range(0, micros.length).boxed().toList();
      }
      TreeSet<Integer> places = new TreeSet<>();
      IntStream.range(1, micros.length)
          .boxed()
          .sorted(Comparator.comparingInt((Integer i) -> micros[i - 1] - micros[i]))
          .limit(LONG_GAPS)
          .forEach(
              i -> {
                places.add(i - 1);
                places.add(i);
              });
      int even = MOST - 2 * LONG_GAPS;
      for (int k = 0; k < even; k++) {
        places.add((int) ((long) k * (micros.length - 1) / (even - 1)));
      }
      return places;
    }
  }
}
