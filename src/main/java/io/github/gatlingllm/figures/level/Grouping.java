package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Cell.Detail;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What requests are counted under: a row states how the key of a request is read, whether a key has
 * a cell for each window, each load level or the run, and what its cell stores.
 *
 * <p>Joint ones have their cells in common, one for each combination of their keys, so that figures
 * by any of them, by load level, by target and of the run are sums of these cells.
 */
public enum Grouping implements RunInfo.Keyed {
  REQUEST(record -> record.identity().name()),
  MODEL(record -> Objects.requireNonNullElse(record.identity().model(), "")),
  REPLICA(Grouping::replica),
  SCENARIO(LevelWindow::first, Detail.SCENARIO, record -> record.identity().scenario()),
  INJECTOR(LevelWindow::first, Detail.INJECTOR, record -> record.identity().injector()),
  TRIAL(UnaryOperator.identity(), Detail.SUMS, record -> record.identity().trial()),
  /** Turn of a conversation, from 1; the 100th includes all later ones. */
  TURN(Grouping::ofRun, Detail.TURN, Grouping::turn),
  API(Grouping::ofRun, Detail.SUMS, record -> record.identity().api()),
  ENDPOINT(Grouping::ofRun, Detail.SUMS, record -> record.identity().endpoint());

  private static final int LAST_TURN = 100;

  /** Cells of a grouping by names, up to 60 KiB each. */
  private static final int MAX_CELLS = 2_000;

  static final List<Grouping> JOINT =
      Arrays.stream(values()).filter(each -> each.detail == Detail.FIGURES).toList();

  static final List<Grouping> SEPARATE =
      Arrays.stream(values()).filter(each -> each.detail != Detail.FIGURES).toList();

  /** What the requests of one load level can differ in, besides their name. */
  static final List<Grouping> PARTS = JOINT.stream().filter(by -> by != REQUEST).toList();

  /** Which window's cell a key has for a request of this window; null for one of the run. */
  @SuppressWarnings("ImmutableEnumChecker") // its functions have no state
  final Function<LevelWindow, @Nullable LevelWindow> place;

  final Detail detail;

  @SuppressWarnings("ImmutableEnumChecker") // its functions have no state
  private final Function<RequestRecord, @Nullable Object> key;

  Grouping(Function<RequestRecord, @Nullable Object> key) {
    this(UnaryOperator.identity(), Detail.FIGURES, key);
  }

  Grouping(
      Function<LevelWindow, @Nullable LevelWindow> place,
      Detail detail,
      Function<RequestRecord, @Nullable Object> key) {
    this.place = place;
    this.detail = detail;
    this.key = key;
  }

  /** Cells beyond which keys are counted together; trials number as in the plan. */
  int maxCells() {
    return this == TRIAL ? Integer.MAX_VALUE : MAX_CELLS;
  }

  /** Null where requests like this one are not counted. */
  @Nullable Object key(RequestRecord record) {
    return key.apply(record);
  }

  private static @Nullable LevelWindow ofRun(LevelWindow window) {
    return null;
  }

  private static @Nullable Object turn(RequestRecord record) {
    Integer turn = record.identity().turn();
    return turn == null ? null : (Integer) Math.min(turn, LAST_TURN);
  }

  /** The replica that answered, as it names itself; else host and port of the endpoint. */
  static String replica(RequestRecord record) {
    String named = record.server().replica();
    if (named != null) {
      return named;
    }
    String endpoint = record.identity().endpoint();
    int from = endpoint.indexOf("//") + 2;
    int to = endpoint.indexOf('/', from);
    return endpoint.substring(from, to < 0 ? endpoint.length() : to);
  }
}
