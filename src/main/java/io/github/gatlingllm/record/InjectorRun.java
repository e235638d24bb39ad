package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A load generator of a merged run.
 *
 * @param name the {@code injector} of its records
 * @param run id of its own run
 * @param share its share of the load; null if not known
 * @param state how its run ended; {@code RUNNING} if its process died
 * @param startUnixNanos when its run began
 * @param endUnixNanos when its run ended; if its process died, when its last recorded request ended
 * @param planned planned requests in its measure windows; null if its plan has no number
 * @param measured those of {@code planned} that have a record
 * @param started requests of all phases that should have a record; null if its process died
 * @param records records in its file
 * @param dropped records known to be lost: not written, damaged, or cut off
 * @param levels the load levels that it began
 * @param settings its settings and versions that are not the same for all injectors
 */
public record InjectorRun(
    String name,
    String run,
    @Nullable InjectorShare share,
    RunInfo.State state,
    @JsonProperty("start_unix_ns") long startUnixNanos,
    @JsonProperty("end_unix_ns") @Nullable Long endUnixNanos,
    @Nullable Long planned,
    long measured,
    @Nullable Long started,
    long records,
    long dropped,
    List<LevelPart> levels,
    Map<String, String> settings) {

  public InjectorRun {
    levels = levels == null ? List.of() : List.copyOf(levels);
    settings = RunInfo.ordered(settings);
  }

  /**
   * The part of an injector in a load level.
   *
   * @param planned planned requests in its measure window; null if the plan has no number
   * @param lateNanos when it began − the planned start; null without a planned start
   */
  public record LevelPart(
      String label,
      String target,
      @Nullable String scenario,
      @Nullable Long planned,
      @JsonProperty("late_ns") @Nullable Long lateNanos) {

    /** Whether it is a part of that level. */
    public boolean isOf(LevelInfo level) {
      return label.equals(level.label())
          && target.equals(level.target())
          && Objects.equals(scenario, level.scenario());
    }
  }

  /**
   * The same injector after its file was read.
   *
   * @param found records in its file
   * @param ofPlan planned requests of its measure windows among them
   * @param lost records known to be lost
   */
  public InjectorRun read(long found, long ofPlan, long lost) {
    return new InjectorRun(
        name,
        run,
        share,
        state,
        startUnixNanos,
        endUnixNanos,
        planned,
        ofPlan,
        started,
        found,
        lost,
        levels,
        settings);
  }

  /** Planned requests without a record; null if the plan has no number. */
  public @Nullable Long missing() {
    return planned == null ? null : (Long) Math.max(0, planned - measured);
  }

  /** Whether its run ended as planned. */
  @JsonIgnore
  public boolean isComplete() {
    return state == RunInfo.State.COMPLETE;
  }
}
