package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.LaneState;
import io.github.gatlingllm.figures.level.Series.SessionLane;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How replayed sessions, and the agents in them, spent their time. Each agent has a lane of {@value
 * #CELLS} cells from the start of the load to its end. Memory is bounded: of more than {@value
 * #MAX_SESSIONS} sessions or {@value #MAX_LANES} lanes, every second session has its lanes, every
 * fourth, and so on.
 */
@SuppressWarnings("EnumOrdinal") // cells are bytes
final class SessionTally {

  private static final int MAX_SESSIONS = 200;
  private static final int MAX_LANES = 400;

  /** Agents of a session beyond these share a lane. */
  private static final int MAX_AGENTS = 30;

  private static final String OTHERS = "/(further agents)";

  /** Sessions whose times are known, about 200 bytes each. */
  private static final int MAX_KNOWN = 100_000;

  private static final int CELLS = 2_048;

  /** About 10 bytes each in the page. */
  private static final int MAX_PARTS = 12_000;

  private static final LaneState[] STATES = LaneState.values();

  private final long origin;
  private final double cellNanos;
  private final Map<String, Replayed> sessions = new LinkedHashMap<>();
  private int drawnEvery = 1;
  private int drawn;
  private int lanes;

  SessionTally(long origin, long end) {
    this.origin = origin;
    cellNanos = Math.max(1, end - origin) / (double) CELLS;
  }

  /** Requests of conversations, which are not replayed, do not count. */
  void add(RequestRecord record) {
    String id = SessionTurn.of(record, SessionTurn::id);
    int number = id == null ? -1 : id.indexOf('/');
    if (number < 0) {
      return;
    }
    String key = record.identity().injector() + '\n' + id.substring(0, number);
    Replayed session = sessions.get(key);
    if (session == null && sessions.size() < MAX_KNOWN) {
      session = new Replayed(sessions.size() % drawnEvery == 0);
      sessions.put(key, session);
    }
    if (session != null) {
      session.add(id, record);
    }
    if (drawn > MAX_SESSIONS || lanes > MAX_LANES) {
      thinOut();
    }
  }

  private void thinOut() {
    List<Replayed> all = drawn();
    for (int i = 1; i < all.size(); i += 2) {
      all.get(i).lanes = null;
    }
    drawnEvery *= 2;
    drawn = (all.size() + 1) / 2;
    lanes = drawn().stream().mapToInt(session -> session.lanes().size()).sum();
  }

  private List<Replayed> drawn() {
    return sessions.values().stream().filter(session -> session.lanes != null).toList();
  }

  int size() {
    return sessions.size();
  }

  /** Adds the time in which each session was alive. */
  void addTo(Series.OverTime time) {
    sessions.values().forEach(session -> time.addSession(session.from, session.to));
  }

  /** In the order in which sessions, and agents in them, began; coarser where they are many. */
  List<SessionLane> lanes() {
    List<Replayed> all = new ArrayList<>(drawn());
    all.sort(Comparator.comparingLong(session -> session.from));
    List<SessionLane> found = List.of();
    long parts = Long.MAX_VALUE;
    for (int width = 1; parts > MAX_PARTS && width < CELLS / 32; width *= 2) {
      int cells = width;
      found = all.stream().flatMap(session -> session.lanes(cells).stream()).toList();
      parts = found.stream().mapToLong(lane -> lane.parts().size()).sum();
    }
    return found;
  }

  private int cell(long unixNanos) {
    return (int) Math.max(0, Math.min(CELLS, Math.round((unixNanos - origin) / cellNanos)));
  }

  private final class Replayed {
    private @Nullable Map<String, Lane> lanes;
    private long from = Long.MAX_VALUE;
    private long to = Long.MIN_VALUE;
    private boolean isComplete;
    private boolean hasFailed;
    private boolean isOutOfContext;

    Replayed(boolean isDrawn) {
      lanes = isDrawn ? new LinkedHashMap<>() : null;
      drawn += isDrawn ? 1 : 0;
    }

    void add(String id, RequestRecord record) {
      Timing timing = record.timing();
      Long closed = timing.closedUnixNanos();
      from = Math.min(from, timing.scheduledUnixNanos());
      to = Math.max(to, closed == null ? timing.startUnixNanos() : closed);
      isComplete |=
          record.outcome().ok() && Boolean.TRUE.equals(SessionTurn.of(record, SessionTurn::isEnd));
      boolean isTooLong = record.outcome().status() == RequestStatus.CONTEXT_EXCEEDED;
      isOutOfContext |= isTooLong;
      hasFailed |= record.outcome().hasFailedOrWasLimited() && !isTooLong;
      if (lanes != null && closed != null) {
        String own =
            lanes.containsKey(id) || lanes.size() < MAX_AGENTS
                ? id
                : lanes.keySet().iterator().next() + OTHERS;
        lanes.computeIfAbsent(own, name -> new Lane()).add(record, closed);
      }
    }

    Map<String, Lane> lanes() {
      return Objects.requireNonNull(lanes);
    }

    List<SessionLane> lanes(int cells) {
      Map<String, Lane> all = lanes();
      String main = all.keySet().stream().min(Comparator.comparingInt(String::length)).orElse("");
      String end =
          hasFailed
              ? "failed"
              : isOutOfContext ? "out of context" : isComplete ? "complete" : "cut";
      return all.entrySet().stream()
          .sorted(
              Comparator.comparing((Map.Entry<String, Lane> of) -> !of.getKey().equals(main))
                  .thenComparing(of -> of.getValue().from))
          .map(
              of ->
                  of.getValue()
                      .drawn(
                          main,
                          of.getKey().equals(main) ? "" : inner(main, of.getKey()),
                          end,
                          cells))
          .toList();
    }

    private static String inner(String main, String id) {
      return id.substring(id.startsWith(main + '/') ? main.length() + 1 : id.lastIndexOf('/') + 1);
    }
  }

  /** The requests of an agent, which sends them one after the other. */
  private final class Lane {
    private final byte[] cells = new byte[CELLS];
    private final double[] nanos = new double[STATES.length];
    private long requests;
    private long from = Long.MAX_VALUE;
    private long to = Long.MIN_VALUE;
    private int firstCell = CELLS;
    private int lastCell;

    Lane() {
      lanes++;
    }

    void add(RequestRecord record, long closed) {
      Timing timing = record.timing();
      Integer turn = record.identity().turn();
      boolean isFill =
          requests == 0 && record.identity().phase() == Phase.FILL && turn != null && turn > 1;
      long begin = timing.scheduledUnixNanos();
      Long admitted = timing.admittedUnixNanos();
      Long ttft = timing.ttftNanos();
      long first = admitted == null || ttft == null ? closed : admitted + ttft;
      LaneState only =
          isFill
              ? LaneState.FILL
              : record.outcome().hasFailedOrWasLimited() ? LaneState.FAILED : null;
      requests++;
      from = Math.min(from, begin);
      to = Math.max(to, closed);
      nanos[(only == null ? LaneState.PREFILL : only).ordinal()] += first - begin;
      nanos[(only == null ? LaneState.DECODE : only).ordinal()] += closed - first;
      int start = Math.min(cell(begin), CELLS - 1);
      int end = Math.max(cell(closed), start + 1); // a short request is drawn too
      firstCell = Math.min(firstCell, start);
      lastCell = Math.max(lastCell, end);
      boolean isLate = first - begin >= closed - first;
      int middle = Math.max(isLate ? start + 1 : start, cell(first));
      middle = Math.min(isLate ? end : end - 1, middle);
      paint(start, middle, only == null ? LaneState.PREFILL : only);
      paint(middle, end, only == null ? LaneState.DECODE : only);
    }

    private void paint(int start, int end, LaneState state) {
      Arrays.fill(cells, start, end, (byte) state.ordinal());
    }

    SessionLane drawn(String session, String agent, String end, int width) {
      double busy = Arrays.stream(nanos).sum();
      Map<LaneState, Double> seconds = new EnumMap<>(LaneState.class);
      for (LaneState state : STATES) {
        seconds.put(state, nanos[state.ordinal()] / 1e9);
      }
      seconds.put(LaneState.WAITING, Math.max(0, to - from - busy) / 1e9);
      return new SessionLane(
          session,
          agent,
          end,
          (from - origin) / 1e9,
          (to - from) / 1e9,
          requests,
          seconds,
          parts(width));
    }

    /** The state from each instant on, in seconds; none after the last one. */
    private SortedMap<Double, @Nullable LaneState> parts(int width) {
      SortedMap<Double, @Nullable LaneState> parts = new TreeMap<>();
      LaneState before = null;
      for (int at = firstCell / width * width; at < lastCell; at += width) {
        LaneState state = STATES[mostFrequent(at, Math.min(at + width, lastCell))];
        if (state != before) {
          parts.put(seconds(at), state);
        }
        before = state;
      }
      parts.put(seconds(lastCell), null);
      return parts;
    }

    private double seconds(int cell) {
      return Math.round(cell * cellNanos / 1e6) / 1e3;
    }

    /** Of some cells; among equals the one that is not waiting. */
    private int mostFrequent(int start, int end) {
      int[] counts = new int[STATES.length];
      int most = LaneState.WAITING.ordinal();
      for (int i = start; i < end; i++) {
        counts[cells[i]]++;
      }
      for (int i = 0; i < counts.length; i++) {
        most = counts[i] >= counts[most] && counts[i] > 0 ? i : most;
      }
      return most;
    }
  }
}
