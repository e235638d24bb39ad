package io.github.gatlingllm.stats;

import io.github.gatlingllm.check.CheckInput.Silence;
import io.github.gatlingllm.metric.ValueRecorder;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.stats.Windows.LevelWindow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * When no streamed request of a target got a byte although some were in flight. Time is cut into at
 * most a million slots, of 10 ms in runs of up to three hours; a slot holds whether a byte came in
 * it, and how many requests were in flight from its start to its end: 4 MiB at most.
 *
 * <p>How long is too long depends on the server: alone, a request is silent for as long as its
 * prefill takes. So a span counts that is longer than a second and than three times what the median
 * request waited for its first token or between two. The median stands for the usual request even
 * where nearly half of them met a stall; a percentile of the tail would be the stall itself. Where
 * one request alone is in flight and has no token yet, the bound grows with its prompt, and there
 * is none where the server generates tokens that it does not send.
 */
final class SilenceTally {

  private static final long LEAST_SLOT = 10_000_000L;
  private static final int MOST_SLOTS = 1 << 20;
  private static final double LEAST_S = 1;
  private static final double MOST_MEDIANS = 3;

  /** Prefills that are remembered; with more of them, half of all requests wait that long. */
  private static final int MOST_PREFILLS = 1 << 12;

  private final long origin;
  private final long slotNanos;
  private final int slots;
  private final BitSet heard = new BitSet();
  private final ValueRecorder waitsS = new ValueRecorder(ValueRecorder.MILLIONTHS);
  private final ValueRecorder prompts = new ValueRecorder(ValueRecorder.WHOLE);
  private final List<Prefill> prefills = new ArrayList<>();
  private int[] change = new int[1 << 10];
  private long streams;
  private long bodies;

  /**
   * The wait of a request for its first token, in slots, and the tokens that are to be processed.
   */
  private record Prefill(int from, int to, int tokens) {}

  /**
   * @param from start of the run, epoch nanoseconds
   * @param until its end
   */
  SilenceTally(long from, long until) {
    origin = from;
    slotNanos = Math.max(LEAST_SLOT, (until - from) / MOST_SLOTS + 1);
    slots = (int) Math.max(1, (until - from) / slotNanos + 1);
  }

  /** Adds a request to the target, of any phase. */
  void add(RequestRecord record) {
    RequestRecord.Timing timing = record.timing();
    Long admitted = timing.admittedUnixNanos();
    if (admitted == null) {
      return;
    }
    boolean ok = record.outcome().ok();
    boolean isStream = record.identity().streamed() && (!ok || record.events().count() > 1);
    listen(record, admitted);
    Long closed = timing.closedUnixNanos();
    if (isStream && closed != null) {
      inFlight(slot(admitted) + 1, slot(closed));
      prefill(record, admitted, closed);
    }
    if (ok && record.identity().phase() == Phase.MEASURE) {
      streams += isStream ? 1 : 0;
      bodies += isStream ? 0 : 1;
      if (isStream) {
        waitsS.add(
            Math.max(orZero(timing.ttftNanos()), orZero(record.events().longestGapNanos())) / 1e9);
        prompts.add(work(record));
      }
    }
  }

  /** Notes when bytes came. */
  private void listen(RequestRecord record, long admitted) {
    RequestRecord.Timing timing = record.timing();
    hear(admitted, timing.headersNanos());
    hear(admitted, timing.firstEventNanos());
    hear(admitted, timing.ttftNanos());
    hear(admitted, timing.latencyNanos());
    RequestStatus status = record.outcome().status();
    if (status == RequestStatus.COMPLETE || status == RequestStatus.HTTP_ERROR) {
      hear(admitted, timing.closedNanos());
    }
    int[] offsets = record.events().offsetsMicros();
    long slotEnd = Long.MIN_VALUE;
    for (int micros : offsets) {
      long at = admitted + micros * 1_000L;
      if (at >= slotEnd || at < slotEnd - slotNanos) {
        int slot = slot(at);
        slotEnd = origin + (slot + 1) * slotNanos;
        heard.set(slot);
      }
    }
    Long first = timing.ttftNanos();
    Long end = timing.latencyNanos();
    if (offsets.length == 0 && first != null && end != null) {
      // Nothing says when the bytes between came.
      heard.set(slot(admitted + first), slot(admitted + end) + 1);
    }
  }

  private void hear(long admitted, @Nullable Long nanos) {
    if (nanos != null) {
      heard.set(slot(admitted + nanos));
    }
  }

  private void inFlight(int from, int to) {
    if (to > from) {
      if (to >= change.length) {
        change = Arrays.copyOf(change, Math.max(to + 1, Math.min(slots + 1, 2 * change.length)));
      }
      change[from]++;
      change[to]--;
    }
  }

  private void prefill(RequestRecord record, long admitted, long closed) {
    Long ttft = record.timing().ttftNanos();
    long first = ttft == null ? closed : admitted + ttft;
    if (first - admitted >= LEAST_S * 1e9 && prefills.size() < MOST_PREFILLS) {
      int tokens = hasHiddenTokens(record) ? Integer.MAX_VALUE : work(record);
      prefills.add(new Prefill(slot(admitted), slot(first), tokens));
    }
  }

  /** Whether the server generated what it did not send: it is silent for as long as that takes. */
  private static boolean hasHiddenTokens(RequestRecord record) {
    Integer all = record.tokens().outputTokens();
    Integer streamed = record.tokens().streamedTokens();
    return all != null && streamed != null && all > streamed;
  }

  /** Tokens of the prompt that were not cached; 1 where they are not known. */
  private static int work(RequestRecord record) {
    Integer prompt = record.tokens().prompt();
    Integer cached = record.tokens().cachedTokens();
    return Math.max(1, (prompt == null ? 1 : prompt) - (cached == null ? 0 : cached));
  }

  private static long orZero(@Nullable Long nanos) {
    return nanos == null ? 0 : nanos;
  }

  private int slot(long unixNanos) {
    return (int) Math.max(0, Math.min(slots - 1L, (unixNanos - origin) / slotNanos));
  }

  /** What a load level of the target was like; null where most answers were no streams. */
  @Nullable Silence over(LevelWindow window) {
    if (window.nanos() == 0 || streams < bodies || (streams + bodies == 0 && prefills.isEmpty())) {
      return null;
    }
    Found found = new Found(slot(window.from()));
    int inFlight = 0;
    int end = slot(window.to());
    for (int slot = 0; slot < end; slot++) {
      inFlight += slot < change.length ? change[slot] : 0;
      if (slot >= found.first) {
        found.pass(slot, heard.get(slot) ? 0 : inFlight);
      }
    }
    found.pass(end, 0);
    return new Silence(
        found.longest * slotNanos / 1e9,
        (found.longestFrom - found.first) * slotNanos / 1e9,
        found.longestInFlight,
        found.longestBound,
        found.spans,
        found.slots * slotNanos / 1e9);
  }

  /** The spans of one window. */
  private final class Found {
    private final int first;
    private final @Nullable Double wait = waitsS.percentile(50);
    private final @Nullable Double prompt = prompts.percentile(50);
    private int from = -1;
    private int most;
    private int longest;
    private int longestFrom;
    private int longestInFlight;
    private double longestBound = bound(0, 0, 0);
    private int spans;
    private long slots;

    private Found(int first) {
      this.first = first;
    }

    private void pass(int slot, int silent) {
      if (silent > 0) {
        from = from < 0 ? slot : from;
        most = Math.max(most, silent);
        return;
      }
      if (from >= 0) {
        int length = slot - from;
        double bound = bound(from, slot, most);
        boolean isTooLong = length * slotNanos / 1e9 > bound;
        if (isTooLong) {
          spans++;
          slots += length;
        }
        // One that is too long comes before a longer one that is not.
        boolean first = isTooLong && spans == 1;
        if (first || (length > longest && (isTooLong || spans == 0))) {
          longest = length;
          longestFrom = from;
          longestInFlight = most;
          longestBound = bound;
        }
      }
      from = -1;
      most = 0;
    }

    /** The longest silence, in seconds, that is nothing unusual in that span. */
    private double bound(int from, int to, int inFlight) {
      double usual = wait == null ? 0 : MOST_MEDIANS * wait;
      if (inFlight == 1 && prompt != null) {
        for (Prefill prefill : prefills) {
          if (prefill.from <= from && prefill.to >= to) {
            usual *= Math.max(1, prefill.tokens / prompt);
            break;
          }
        }
      }
      return Math.max(LEAST_S, usual);
    }
  }
}
