package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A load generator of a merged run.
 *
 * @param name the {@code injector} of its records
 * @param run id of its run
 * @param state how its run ended; {@code RUNNING} if its process died
 * @param endUnixNanos if its process died, when its last recorded request ended
 * @param planned planned requests in its measure windows; null if its plan has no number
 * @param measured those of {@code planned} that have a record
 * @param started requests of all phases that should have a record; null if its process died
 * @param dropped records known to be lost: not written, damaged, or cut off
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
    List<InjectorLevel> levels,
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
  public record InjectorLevel(
      String label,
      String target,
      @Nullable String scenario,
      @Nullable Long planned,
      @JsonProperty("late_ns") @Nullable Long lateNanos) {

    public boolean isOf(LevelInfo level) {
      return level.key().equals(new LevelInfo.Key(label, target, scenario));
    }
  }

  /** The same injector after its file was read; {@code ofPlan} of the records were planned. */
  public InjectorRun read(long found, long ofPlan, long lost) {
    return Components.with(this, "measured", ofPlan, "records", found, "dropped", lost);
  }

  /** Planned requests without a record; null if the plan has no number. */
  public @Nullable Long missing() {
    return planned == null ? null : (Long) Math.max(0, planned - measured);
  }

  @JsonIgnore
  public boolean isComplete() {
    return state == RunInfo.State.COMPLETE;
  }

  /** Whether it died: its run has no end. */
  @JsonIgnore
  public boolean isDead() {
    return state == RunInfo.State.RUNNING;
  }

  /**
   * The share of one injector in a load test. Numbered items, such as arrivals and prompts, are
   * assigned round-robin: number 0 to the first injector, 1 to the second, and so on. Counts, such
   * as users, are divided; the first injectors take the remainder.
   *
   * @param index of the injector, from 1
   * @param count how many injectors share the load
   */
  public record InjectorShare(int index, int count) {

    /** Maximum number of injectors; a larger number is a typing error. */
    public static final int MAX_COUNT = 10_000;

    private static final Pattern TEXT = Pattern.compile("(\\d{1,5})\\s*/\\s*(\\d{1,5})");

    public InjectorShare {
      if (index < 1 || index > count || count > MAX_COUNT) {
        throw noShare(index + "/" + count);
      }
    }

    private static IllegalArgumentException noShare(String text) {
      return new IllegalArgumentException(
          text + " is not a share; expected <i>/<n> such as 2/4, i from 1 to n");
    }

    @JsonCreator
    public static InjectorShare parse(String text) {
      Matcher parts = TEXT.matcher(text.strip());
      if (!parts.matches()) {
        throw noShare("'" + text + "'");
      }
      return new InjectorShare(Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2)));
    }

    public boolean isPart() {
      return count > 1;
    }

    /** Whether the item of that number, from 0, belongs to this injector. */
    public boolean has(long number) {
      return number % count == index - 1;
    }

    /** The number of this injector's {@code k}-th item, both from 0. */
    public long numberOf(long k) {
      return index - 1 + k * count;
    }

    /** This injector's part of a count; the parts of all injectors add up to {@code total}. */
    public int of(int total) {
      return total / count + (index <= total % count ? 1 : 0);
    }

    /** This injector's part of a number of requests, divided among those that have users. */
    public int of(int requests, int ofUsers) {
      int sending = Math.min(count, ofUsers);
      return index > sending ? 0 : new InjectorShare(index, sending).of(requests);
    }

    @JsonValue
    @Override
    public String toString() {
      return index + "/" + count;
    }
  }

  /** That the process of an injector has ended, and perhaps left no run: a file beside the runs. */
  public record InjectorEnd(String schema, InjectorShare share, int exitCode) {

    /** Its path below the folder of an injector, as in keys of objects. */
    public static final String FILE = "llm/ended.json";

    private static final String SCHEMA = "gatling-llm/injector-end/1";

    public InjectorEnd(InjectorShare share, int exitCode) {
      this(SCHEMA, share, exitCode);
    }

    public String folder() {
      return "injector-" + share.index() + "-of-" + share.count();
    }

    /** Writes the file below a folder of runs; returns it. */
    public Path write(Path results) throws IOException {
      Path file = results.resolve(folder()).resolve(FILE);
      RunFiles.writeJson(this, file);
      return file;
    }

    public static InjectorEnd read(Path file) throws IOException {
      return RunFiles.readJson(file, InjectorEnd.class, SCHEMA)
          .orElseThrow(() -> new NoSuchFileException(file.toString()));
    }
  }
}
