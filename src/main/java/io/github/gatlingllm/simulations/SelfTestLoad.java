package io.github.gatlingllm.simulations;

import io.github.gatlingllm.engine.EngineProcess;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The settings of {@code llm.selfTest}: a sweep of closed loops that takes about a minute. The
 * streams of a level start evenly over the time of one answer, so that they neither begin nor end
 * together. The sweep ends after a level whose answers take 1.5 times as long as planned.
 */
final class SelfTestLoad {

  private static final int TOKENS = 50;
  private static final long ANSWER_MILLIS =
      EngineProcess.TTFT.toMillis() + (TOKENS - 1) * EngineProcess.ITL.toMillis();

  /** Values for the settings that the user has not set. */
  static final Map<SettingEntry<?>, String> SETTINGS =
      Map.of(
          Setting.CONCURRENCY, "1,16,64,256,512,1024,2048,4096",
          Setting.FILL, ANSWER_MILLIS + "ms",
          Setting.STABILIZE, "500ms",
          Setting.DURATION, "3",
          Setting.DRAIN, "5",
          Setting.MAX_TOKENS, Integer.toString(TOKENS),
          Setting.SLO, "e2e<" + ANSWER_MILLIS * 3 / 2 + "ms",
          Setting.STOP_WHEN, "slo<50%",
          Setting.METRICS_URL, "none");

  /**
   * Settings that a user can set for a self-test; all others are refused or ignored. {@code
   * injector} is here because the catalogue refuses it with a self-test, from whatever source.
   */
  static final Set<SettingEntry<?>> KEPT =
      Stream.of(
              """
              concurrency duration measure drain warmup jvmWarmUp tokenizer connections seed
              injector assert failBuild failOnInvalid csv indexBlock selfTest selfTestFile dryRun
              help
              """
                  .split("\\s+"))
          .map(name -> Objects.requireNonNull(Setting.named(name)))
          .collect(Collectors.toSet());

  private SelfTestLoad() {}
}
