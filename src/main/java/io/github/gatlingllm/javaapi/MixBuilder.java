package io.github.gatlingllm.javaapi;

import static io.gatling.javaapi.core.CoreDsl.doSwitch;
import static io.gatling.javaapi.core.CoreDsl.onCase;

import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.Choice;
import io.gatling.javaapi.core.exec.Executable;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.random.SplitMix64;
import io.github.gatlingllm.random.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Several workloads in one population: each time a user comes here one of them is drawn by weight.
 * The same seed draws the same sequence, unlike Gatling's {@code randomSwitch}.
 *
 * <pre>{@code
 * scenario("Mixed").exec(mix().add(70, ragAgent()).add(30, diverseShort()).seed(42))
 * }</pre>
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 */
public final class MixBuilder implements Executable {

  /** What {@code LlmDsl.mix()} starts from. */
  static final MixBuilder START = new MixBuilder(List.of(), null);

  private static final long SALT = 0x6d69787475726573L; // "mixtures"

  private final List<Part> parts;
  private final @Nullable Long seed;

  private MixBuilder(List<Part> parts, @Nullable Long seed) {
    this.parts = parts;
    this.seed = seed;
  }

  private record Part(double weight, Executable what) {}

  /**
   * One more workload, or anything that {@code exec} takes.
   *
   * @param weight its share ÷ the sum of all weights; above 0
   */
  public MixBuilder add(double weight, Executable what) {
    if (!(weight > 0)) {
      throw InvalidSimulation.because("mix().add(" + weight + ", …): expected a weight above 0");
    }
    List<Part> more = new ArrayList<>(parts);
    more.add(new Part(weight, what));
    return new MixBuilder(more, seed);
  }

  /** Pins the sequence of draws. Without it they are random. */
  public MixBuilder seed(long seed) {
    return new MixBuilder(parts, seed);
  }

  /** For internal use only. */
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
    Part drawn = Weights.draw(parts, Part::weight, SplitMix64.at(drawnFrom, SALT, index));
    return parts.indexOf(drawn);
  }
}
