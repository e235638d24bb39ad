package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan.Sweep;
import io.github.gatlingllm.record.LevelInfo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * When the load levels of several classes of traffic start: in steps, each with levels of one class
 * or of all. A step starts when all levels of the step before have ended; its levels measure in the
 * same window, and keep their load on until the measured requests of each have ended. Thread-safe.
 */
public final class Turns {

  private static final long SALT = 0x7475726e73L; // "turns"

  private static final int ROUNDS_SHOWN = 3;

  private final List<Step> steps;
  private final int rounds;
  private final List<ClassTurn> turns = new ArrayList<>();

  /** The levels at one position of the plans: of one class, or of all where that is null. */
  private record Step(int round, @Nullable Integer only, int level) {
    private boolean has(int ofClass) {
      return only == null || only == ofClass;
    }
  }

  private Turns(List<Step> steps, int rounds) {
    this.steps = steps;
    this.rounds = rounds;
  }

  /**
   * The plans of classes of traffic: the levels at the same position run together, and with {@code
   * alone} those of each class by themselves too, in a random order in each repeat.
   */
  public static List<Sweep> of(List<? extends LoadPlan> plans, boolean alone, long seed) {
    List<Sweep> sweeps = plans.stream().map(Turns::sweep).toList();
    int rounds = common("repeats", sweeps.stream().map(each -> each.repeats().max()));
    int levels = common("load levels", sweeps.stream().map(each -> each.once().size()));
    if (sweeps.stream().anyMatch(each -> each.repeats().goal() != null)) {
      throw new IllegalArgumentException(
          "classes of traffic have different spreads; expected a number of repeats");
    }
    List<Phases> all =
        sweeps.stream().flatMap(each -> each.once().stream()).map(Turns::fixed).toList();
    common("seconds of measuring", all.stream().map(each -> each.measureNanos() / 1e9));
    long before =
        all.stream().mapToLong(each -> each.knownNanos() - each.measureNanos()).max().orElse(0);
    List<Step> steps = new ArrayList<>();
    for (int round = 1; round <= rounds; round++) {
      int ofRound = round;
      List<Step> some =
          IntStream.range(0, levels)
              .boxed()
              .flatMap(
                  level ->
                      Stream.concat(
                          Stream.of(new Step(ofRound, null, level)),
                          IntStream.range(0, alone ? sweeps.size() : 0)
                              .mapToObj(only -> new Step(ofRound, only, level))))
              .collect(Collectors.toList());
      if (some.size() > levels || rounds > 1) {
        Collections.shuffle(some, new Random(Seed.at(seed, SALT, round).nextLong()));
      }
      steps.addAll(some);
    }
    Turns turns = new Turns(steps, rounds);
    return IntStream.range(0, sweeps.size())
        .mapToObj(each -> turns.take(sweeps.get(each), each, before))
        .toList();
  }

  private static Sweep sweep(LoadPlan plan) {
    if (plan instanceof Sweep sweep) {
      return sweep;
    }
    throw new IllegalArgumentException(
        "a search chooses its levels by results, so other classes of traffic have no levels beside"
            + " them; expected rates or concurrencies");
  }

  private static Phases fixed(LoadLevel level) {
    Phases phases = level.phases();
    if (phases.requests() != null) {
      throw new IllegalArgumentException(
          "classes of traffic measure in the same window, so requests cannot bound a level;"
              + " expected a duration");
    }
    return phases.fixed();
  }

  private static <T> T common(String what, Stream<T> of) {
    List<T> each = of.distinct().toList();
    if (each.size() != 1) {
      throw new IllegalArgumentException(
          "classes of traffic run together; expected the same %s for each but got %s"
              .formatted(what, each));
    }
    return each.get(0);
  }

  private Sweep take(Sweep sweep, int ofClass, long before) {
    List<LoadLevel> levels = new ArrayList<>();
    List<Integer> own = new ArrayList<>();
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      if (step.has(ofClass)) {
        LoadLevel level = sweep.once().get(step.level);
        Phases phases = fixed(level);
        long fill = Objects.requireNonNull(phases.fillNanos());
        LoadLevel timed = level.with(phases.withStabilize(before - fill));
        LoadLevel named = step.only == null ? timed : timed.alone();
        levels.add(rounds == 1 ? named : named.repeat(step.round));
        own.add(i);
      }
    }
    ClassTurn turn = new ClassTurn(own);
    turns.add(turn);
    return new Sweep(levels, sweep.rules(), sweep.repeats(), turn);
  }

  /** The order of the steps, by the names of the classes: {@code chat + batch, chat, batch | …}. */
  String text(List<String> classes) {
    List<String> shown =
        IntStream.rangeClosed(1, Math.min(rounds, ROUNDS_SHOWN))
            .mapToObj(
                round ->
                    steps.stream()
                        .filter(step -> step.round == round)
                        .map(
                            step ->
                                step.only == null
                                    ? String.join(" + ", classes)
                                    : classes.get(step.only) + LevelInfo.ALONE)
                        .collect(Collectors.joining(", ")))
            .toList();
    return Sentence.text("load.turns", rounds, String.join(" | ", shown), rounds > ROUNDS_SHOWN);
  }

  private synchronized void resume(long nowNanos) {
    List<ClassTurn> present = turns.stream().filter(turn -> !turn.hasLeft).toList();
    if (present.stream().allMatch(turn -> turn.next != null || turn.meeting != null)) {
      for (ClassTurn turn : present) {
        LongConsumer meeting = turn.meeting;
        turn.meeting = null;
        if (meeting != null) {
          meeting.accept(nowNanos + PlanDriver.LEAD_NANOS);
        }
      }
    }
    if (!present.isEmpty() && present.stream().allMatch(turn -> turn.next != null)) {
      int step = present.stream().mapToInt(ClassTurn::step).min().orElseThrow();
      for (ClassTurn turn : present.stream().filter(each -> each.step() == step).toList()) {
        Runnable next = Objects.requireNonNull(turn.next);
        turn.next = null;
        turn.level++;
        next.run();
      }
    }
  }

  /** The levels of one class. Tasks are called under a lock: they must return immediately. */
  public final class ClassTurn {
    private final List<Integer> own;
    private int level;
    private @Nullable Runnable next;
    private @Nullable LongConsumer meeting;
    private boolean hasLeft;

    private ClassTurn(List<Integer> own) {
      this.own = own;
    }

    private int step() {
      return own.get(level);
    }

    Turns all() {
      return Turns.this;
    }

    /** The level before has ended: waits for the step of the next one. */
    void awaitStep(long nowNanos, Runnable task) {
      synchronized (Turns.this) {
        next = task;
        meeting = null;
        resume(nowNanos);
      }
    }

    /** Waits for the other levels of the step; the task gets an instant that all have in common. */
    void meet(long nowNanos, LongConsumer task) {
      synchronized (Turns.this) {
        meeting = task;
        resume(nowNanos);
      }
    }

    /** The class has no more levels, whatever the plan was. */
    void leave(long nowNanos) {
      synchronized (Turns.this) {
        hasLeft = true;
        resume(nowNanos);
      }
    }
  }
}
