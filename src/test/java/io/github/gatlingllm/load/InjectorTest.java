package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gatlingllm.load.Injector.StartTime;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InjectorTest {

  private static Injector of(Map<String, String> properties, Map<String, String> environment) {
    return Injector.of(properties, environment);
  }

  @Test
  void withoutSettingsTheProcessRunsTheWholeLoadAtOnce() {
    Injector alone = of(Map.of(), Map.of("HOSTNAME", "a"));
    assertThat(alone).isEqualTo(new Injector(null, null));
    assertThat(alone.isPart()).isFalse();
    assertThat(alone.nameOn("host")).isEqualTo("host");
  }

  @Test
  void shareComesFromPropertyThenVariableThenJob() {
    Map<String, String> job = Map.of("JOB_COMPLETION_INDEX", "0", "INJECTORS", "3");
    Map<String, String> both =
        Map.of("JOB_COMPLETION_INDEX", "0", "INJECTORS", "3", "LLM_INJECTOR", "2/5");

    assertThat(of(Map.of(), job).share()).isEqualTo(new InjectorShare(1, 3));
    assertThat(of(Map.of(), both).share()).isEqualTo(new InjectorShare(2, 5));
    assertThat(of(Map.of("llm.injector", "4 / 4"), both).share())
        .isEqualTo(new InjectorShare(4, 4));
    assertThat(of(Map.of(), job).nameOn("host")).isEqualTo("host-1");
    assertThat(of(Map.of("llm.injector", "1/1"), job).isPart()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0/4", "5/4", "1/0", "4", "1/10001", "-1/4", "a/b", "1/4/2"})
  void invalidShareIsRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> of(Map.of("llm.injector", text), Map.of()))
        .withMessageStartingWith("llm.injector=" + text + ": ")
        .withMessageContaining("<i>/<n>");
  }

  @ParameterizedTest
  @CsvSource({
    "3, , JOB_COMPLETION_INDEX=3 without INJECTORS: set it to the completions of the Job",
    ", 4, INJECTORS=4 without JOB_COMPLETION_INDEX: run an Indexed Job",
    "4, 4, contradict each other",
    "x, 4, contradict each other",
    "0, 99999, contradict each other"
  })
  void contradictoryJobIsRefused(String index, String count, String why) {
    Map<String, String> environment =
        index == null
            ? Map.of("INJECTORS", count)
            : count == null
                ? Map.of("JOB_COMPLETION_INDEX", index)
                : Map.of("JOB_COMPLETION_INDEX", index, "INJECTORS", count);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> of(Map.of(), environment))
        .withMessageContaining(why);
  }

  @ParameterizedTest
  @CsvSource({
    "1795255200, 1795255200000000000",
    "1795255200.5, 1795255200500000000",
    "1795255200250, 1795255200250000000",
    "2026-11-21T10:00:00Z, 1795255200000000000",
    "2026-11-21T11:00:00.000000001+01:00, 1795255200000000001",
    "2026-11-21T10:00Z, 1795255200000000000"
  })
  void startsAreSecondsMillisecondsOrIsoTimes(String text, long unixNanos) {
    assertThat(of(Map.of("llm.startAt", text), Map.of()).startAt())
        .isEqualTo(new StartTime(unixNanos));
    assertThat(of(Map.of(), Map.of("LLM_START_AT", " " + text)).startAt())
        .isEqualTo(new StartTime(unixNanos));
  }

  @ParameterizedTest
  @ValueSource(strings = {"soon", "2026-11-21T10:00:00", "-5", "1795255200000000", "10:00"})
  void invalidStartIsRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> of(Map.of("llm.startAt", text), Map.of()))
        .withMessage("llm.startAt=" + text + ": expected " + StartTime.EXPECTED);
  }
}
