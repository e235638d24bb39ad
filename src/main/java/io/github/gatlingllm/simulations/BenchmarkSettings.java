package io.github.gatlingllm.simulations;

import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.wire.Api;
import io.github.gatlingllm.workload.Tokenizer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * Everything the benchmark needs to know, validated.
 *
 * <p>Contradictions are refused: {@code concurrency} with {@code rate}, {@code requests} with
 * {@code duration} (each bounds a level), {@code prompt} with {@code prompts}, {@code arrival}
 * without {@code rate}, {@code sloPercentile} without {@code slo}. {@code requests} counts per
 * level, in sweeps too.
 *
 * @param targets empty: the embedded engine
 * @param tokenizers one per target; a single one where the embedded engine is the target
 * @param interleave whether several targets are loaded at the same time, not one after the other
 * @param slo {@link Slo#NONE} when there is none
 * @param assertions what the build demands of the figures
 * @param seed pins prompts and arrivals; drawn when not set
 * @param recordText whether prompts and answers are kept
 * @param recordTokens whether the time of every event is kept
 * @param csv whether {@code requests.csv} is written
 * @param indexBlock whether Gatling's own pages get our block
 * @param failBuild whether a missed assertion fails the build
 * @param dryRun whether only the plan is printed
 * @param config the settings that were given, fit to be recorded: secrets are stars
 * @param warnings lines to show before the run
 */
public record BenchmarkSettings(
    List<Target> targets,
    List<Tokenizer> tokenizers,
    boolean interleave,
    Api api,
    Load load,
    Ask ask,
    Transport transport,
    Slo slo,
    List<Assertion> assertions,
    long seed,
    boolean recordText,
    boolean recordTokens,
    boolean csv,
    boolean indexBlock,
    boolean failBuild,
    boolean dryRun,
    Map<String, String> config,
    List<String> warnings) {

  /** A drawn seed stays below: it is read back from JSON by programs that know only doubles. */
  private static final long EXACT_IN_JAVASCRIPT = 1L << 53;

  public BenchmarkSettings {
    targets = List.copyOf(targets);
    tokenizers = List.copyOf(tokenizers);
    assertions = List.copyOf(assertions);
    warnings = List.copyOf(warnings);
  }

  /**
   * Reads and checks all settings.
   *
   * @param randomSeed asked once, only when no seed is set
   * @throws InvalidSetting for the first one that is wrong
   */
  public static BenchmarkSettings of(Settings settings, LongSupplier randomSeed) {
    return new SettingsReader(settings, new TypedSettings(settings)).read(randomSeed);
  }

  /** The settings of this process, see {@link Settings#ofProcess}. */
  public static BenchmarkSettings ofProcess() {
    return of(
        Settings.ofProcess(), () -> ThreadLocalRandom.current().nextLong(EXACT_IN_JAVASCRIPT));
  }

  /** What the targets are called in results, in their order. */
  public List<String> labels() {
    return TargetLabels.of(targets);
  }

  /** Whether the embedded engine is the target. */
  public boolean embedded() {
    return targets.isEmpty();
  }
}
