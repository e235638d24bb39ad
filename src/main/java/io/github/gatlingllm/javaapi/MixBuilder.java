package io.github.gatlingllm.javaapi;

import static io.gatling.javaapi.core.CoreDsl.doSwitch;
import static io.gatling.javaapi.core.CoreDsl.onCase;

import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.Choice;
import io.gatling.javaapi.core.exec.Executable;
import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.load.Seed;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A mix of several workloads in one population; see {@link LlmDsl#mix}. Each time a user executes
 * the mix, one workload is drawn by weight. Unlike with Gatling's {@code randomSwitch}, the same
 * seed draws the same sequence.
 */
public final class MixBuilder implements Executable {

  static final MixBuilder START = new MixBuilder(List.of(), null);

  private static final long SALT = 0x6d69787475726573L; // "mixtures"

  private final List<WeightedExecutable> parts;
  private final @Nullable Long seed;

  private MixBuilder(List<WeightedExecutable> parts, @Nullable Long seed) {
    this.parts = parts;
    this.seed = seed;
  }

  private record WeightedExecutable(double weight, Executable what) {}

  /**
   * Adds a workload, or anything else that {@code exec} takes. Its share is its weight, a finite
   * number above 0, ÷ the sum of all weights.
   */
  public MixBuilder add(double weight, Executable what) {
    var part = new WeightedExecutable(InvalidSimulation.above0("mix().add", weight), what);
    return new MixBuilder(Draft.and(parts, part), seed);
  }

  /** Pins the sequence of draws. By default the seed is random. */
  public MixBuilder seed(long seed) {
    return new MixBuilder(parts, seed);
  }

  @Override
  public ChainBuilder toChainBuilder() {
    if (parts.isEmpty()) {
      throw InvalidSimulation.because(
          "mix() is empty; add workloads: mix().add(70, ragAgent()).add(30, diverseShort())");
    }
    long drawnFrom = seed == null ? Seeds.random() : seed;
    DrawOrder order = Seeds.drawOrder();
    List<Choice.WithKey> choices =
        IntStream.range(0, parts.size())
            .mapToObj(i -> onCase(i).then(parts.get(i).what()))
            .toList();
    return doSwitch(session -> draw(drawnFrom, Seeds.drawIndex(order, session))).on(choices);
  }

  private Integer draw(long drawnFrom, long index) {
    WeightedExecutable drawn =
        Seed.weighted(parts, WeightedExecutable::weight, Seed.at(drawnFrom, SALT, index));
    return parts.indexOf(drawn);
  }
}
