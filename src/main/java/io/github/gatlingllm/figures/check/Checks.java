package io.github.gatlingllm.figures.check;

import io.github.gatlingllm.figures.metric.Check;
import io.github.gatlingllm.figures.metric.GeneratorHealth;
import io.github.gatlingllm.figures.metric.LevelFigures;
import java.util.Arrays;
import java.util.List;

/** The checks of a run's validity. */
public final class Checks {

  private Checks() {}

  /** The results of all checks that apply to a run, the worst first. */
  public static List<Check> of(CheckInput run) {
    return CheckCatalogue.judge(run);
  }

  /** The level of check {@code generator} for one injector at one load level. */
  public static Check.Level ofGenerator(
      LevelFigures at, GeneratorHealth health, boolean isServerHere) {
    return GeneratorCheck.level(at, health, isServerHere);
  }

  /** The ids of all checks, in the order of the catalogue. */
  public static List<String> ids() {
    return Arrays.stream(CheckCatalogue.values()).map(CheckCatalogue::id).toList();
  }
}
