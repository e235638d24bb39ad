package io.github.gatlingllm.simulations;

import io.github.gatlingllm.engine.EngineProcess;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

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
  static final Map<SettingEntry<?>, String> SETTINGS = settings();

  /**
   * Settings that a user can set for a self-test; all others are refused or ignored. {@code
   * INJECTOR} is here because the catalogue refuses it with a self-test, from whatever source.
   */
  static final Set<SettingEntry<?>> KEPT =
      Set.of(
          Setting.CONCURRENCY,
          Setting.DURATION,
          Setting.MEASURE,
          Setting.DRAIN,
          Setting.WARMUP,
          Setting.JVM_WARM_UP,
          Setting.TOKENIZER,
          Setting.CONNECTIONS,
          Setting.SEED,
          Setting.INJECTOR,
          Setting.ASSERT,
          Setting.FAIL_BUILD,
          Setting.FAIL_ON_INVALID,
          Setting.CSV,
          Setting.INDEX_BLOCK,
          Setting.SELF_TEST,
          Setting.SELF_TEST_FILE,
          Setting.DRY_RUN,
          Setting.HELP);

  private SelfTestLoad() {}

  private static Map<SettingEntry<?>, String> settings() {
    Map<SettingEntry<?>, String> texts = new LinkedHashMap<>();
    texts.put(Setting.CONCURRENCY, "1,16,64,256,512,1024,2048,4096");
    texts.put(Setting.FILL, ANSWER_MILLIS + "ms");
    texts.put(Setting.STABILIZE, "500ms");
    texts.put(Setting.DURATION, "3");
    texts.put(Setting.DRAIN, "5");
    texts.put(Setting.MAX_TOKENS, Integer.toString(TOKENS));
    texts.put(Setting.SLO, "e2e<" + ANSWER_MILLIS * 3 / 2 + "ms");
    texts.put(Setting.STOP_WHEN, "slo<50%");
    texts.put(Setting.METRICS_URL, "none");
    return texts;
  }
}
