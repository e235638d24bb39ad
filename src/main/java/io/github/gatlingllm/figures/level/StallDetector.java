package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.LevelFigures.Silence;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Finds times in which no streamed request of a target received a byte although some were in
 * flight.
 *
 * <p>A silence counts that is longer than a second and than three times the longest wait of the
 * median request, for its first token or between two; a high percentile would be that of a stall.
 * Where only one request is in flight and has no token yet, the bound grows with its prompt; there
 * is not a bound where the server generates tokens that it does not send.
 */
final class StallDetector {

  private static final double MIN_S = 1;
  private static final double MAX_MEDIANS = 3;

  /** Stored prefills; with more of them, half of all requests wait that long. */
  private static final int MAX_PREFILLS = 1 << 12;

  private final TimeSlots slots;
  private final BitSet received = new BitSet();
  private final ValueRecorder waitsS = new ValueRecorder(ValueRecorder.MILLIONTHS);
  private final ValueRecorder prompts = new ValueRecorder(ValueRecorder.INTEGERS);
  private final List<Prefill> prefills = new ArrayList<>();
  private int[] change = new int[1 << 10];
  private long streams;
  private long bodies;

  /** The wait for a first token, in slots, and the prompt tokens without cached ones. */
  private record Prefill(int from, int to, int tokens) {}

  StallDetector(long from, long until) {
    slots = TimeSlots.ofRun(from, until);
  }

  void add(RequestRecord record) {
    RequestRecord.Timing timing = record.timing();
    Long admitted = timing.admittedUnixNanos();
    if (admitted == null) {
      return;
    }
    boolean isOk = record.outcome().ok();
    boolean isStream = record.identity().streamed() && (!isOk || record.events().count() > 1);
    noteBytes(record, admitted);
    Long closed = timing.closedUnixNanos();
    if (isStream && closed != null) {
      int from = slots.at(admitted) + 1;
      int to = slots.at(closed);
      if (to > from) {
        change = slots.add(change, to, -1);
        change = slots.add(change, from, 1);
      }
      prefill(record, admitted, closed);
    }
    if (isOk && record.identity().phase() == Phase.MEASURE) {
      streams += isStream ? 1 : 0;
      bodies += isStream ? 0 : 1;
      if (isStream) {
        waitsS.add(
            Math.max(
                    Objects.requireNonNullElse(timing.ttftNanos(), 0L),
                    Objects.requireNonNullElse(record.events().longestGapNanos(), 0L))
                / 1e9);
        prompts.add(work(record));
      }
    }
  }

  private void noteBytes(RequestRecord record, long admitted) {
    RequestRecord.Timing timing = record.timing();
    Long first = timing.ttftNanos();
    Long end = timing.latencyNanos();
    RequestStatus status = record.outcome().status();
    boolean isClosedByServer =
        status == RequestStatus.COMPLETE
            || status == RequestStatus.CHECK_FAILED
            || status == RequestStatus.HTTP_ERROR;
    note(admitted, timing.headersNanos());
    note(admitted, timing.firstEventNanos());
    note(admitted, first);
    note(admitted, end);
    note(admitted, isClosedByServer ? timing.closedNanos() : null);
    int[] offsets = record.events().offsetsMicros();
    for (int micros : offsets) {
      received.set(slots.at(admitted + micros * 1_000L));
    }
    if (offsets.length == 0 && first != null && end != null) {
      // Without event times, bytes may have arrived at any time in between.
      slots.set(received, admitted + first, admitted + end);
    }
  }

  private void note(long admitted, @Nullable Long nanos) {
    if (nanos != null) {
      received.set(slots.at(admitted + nanos));
    }
  }

  private void prefill(RequestRecord record, long admitted, long closed) {
    Long ttft = record.timing().ttftNanos();
    long first = ttft == null ? closed : admitted + ttft;
    if (first - admitted >= MIN_S * 1e9 && prefills.size() < MAX_PREFILLS) {
      Integer all = record.tokens().outputTokens();
      Integer streamed = record.tokens().streamedTokens();
      boolean hasHidden = all != null && streamed != null && all > streamed;
      int tokens = hasHidden ? Integer.MAX_VALUE : work(record);
      prefills.add(new Prefill(slots.at(admitted), slots.at(first), tokens));
    }
  }

  /** Tokens of the prompt that were not cached; 1 where they are not known. */
  private static int work(RequestRecord record) {
    return Math.max(
        1,
        Objects.requireNonNullElse(record.tokens().prompt(), 1)
            - Objects.requireNonNullElse(record.tokens().cachedTokens(), 0));
  }

  /** The silences in the repeat of a load level with most of them. */
  @Nullable Silence over(List<LevelWindow> repeats) {
    return repeats.stream()
        .map(this::over)
        .filter(Objects::nonNull)
        .max(Comparator.comparingDouble(Silence::allS).thenComparing(Silence::longestS))
        .orElse(null);
  }

  /** The silences in a load level of the target; null where most answers were not streamed. */
  @Nullable Silence over(LevelWindow window) {
    if (window.nanos() == 0 || streams < bodies || (streams + bodies == 0 && prefills.isEmpty())) {
      return null;
    }
    int first = slots.at(window.from);
    List<Quiet> all = quiet(first, slots.at(window.to));
    List<Quiet> tooLong =
        all.stream().filter(q -> seconds(q) > MIN_S && seconds(q) > boundS(q)).toList();
    // A silence beyond its bound comes before a longer one within its bound.
    Quiet longest =
        (tooLong.isEmpty() ? all : tooLong)
            .stream()
                .reduce((a, b) -> seconds(b) > seconds(a) ? b : a)
                .orElse(new Quiet(first, first, 0));
    return new Silence(
        seconds(longest),
        slots.seconds(longest.from - first),
        longest.inFlight,
        boundS(longest),
        tooLong.size(),
        slots.seconds(tooLong.stream().mapToLong(q -> q.to - q.from).sum()));
  }

  /** Slots without a byte, and the most requests that were in flight in them. */
  private record Quiet(int from, int to, int inFlight) {}

  private double seconds(Quiet quiet) {
    return slots.seconds(quiet.to - quiet.from);
  }

  private List<Quiet> quiet(int first, int end) {
    List<Quiet> all = new ArrayList<>();
    int inFlight = 0;
    int from = -1;
    int max = 0;
    for (int slot = 0; slot <= end; slot++) {
      inFlight += slot < change.length ? change[slot] : 0;
      if (slot >= first && slot < end && inFlight > 0 && !received.get(slot)) {
        from = from < 0 ? slot : from;
        max = Math.max(max, inFlight);
      } else if (from >= 0) {
        all.add(new Quiet(from, slot, max));
        from = -1;
        max = 0;
      }
    }
    return all;
  }

  private double boundS(Quiet quiet) {
    Double wait = waitsS.percentile(50);
    Double prompt = prompts.percentile(50);
    double usual = wait == null ? 0 : MAX_MEDIANS * wait;
    double work =
        quiet.inFlight != 1 || prompt == null
            ? 1
            : prefills.stream()
                .filter(prefill -> prefill.from <= quiet.from && prefill.to >= quiet.to)
                .findFirst()
                .map(prefill -> Math.max(1, prefill.tokens / prompt))
                .orElse(1.0);
    return Math.max(MIN_S, usual * work);
  }
}
