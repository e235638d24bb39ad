package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ProcessSettingTest {

  private static final ProcessSetting FILE = new ProcessSetting("llm.selfTestFile");
  private static final Map<String, String> NONE = Map.of();

  @Test
  void propertyOverridesVariable() {
    Map<String, String> variables = Map.of("LLM_SELF_TEST_FILE", " b ");
    assertThat(FILE.text(NONE, NONE)).isNull();
    assertThat(FILE.text(NONE, variables)).isEqualTo("b");
    assertThat(FILE.text(Map.of("llm.selfTestFile", "a"), variables)).isEqualTo("a");
  }

  @Test
  void blankCountsAsNotSet() {
    assertThat(FILE.text(NONE, Map.of("LLM_SELF_TEST_FILE", " "))).isNull();
    assertThat(FILE.text(Map.of("llm.selfTestFile", ""), Map.of("LLM_SELF_TEST_FILE", "b")))
        .isNull();
  }

  @Test
  void switchIsTrueOrFalse() {
    ProcessSetting dryRun = new ProcessSetting("llm.dryRun");
    assertThat(dryRun.isTrue(Map.of("llm.dryRun", "TRUE"), NONE, false)).isTrue();
    assertThat(dryRun.isTrue(NONE, Map.of("LLM_DRY_RUN", "false"), true)).isFalse();
    assertThat(dryRun.isTrue(NONE, NONE, true)).isTrue();
    assertThatThrownBy(() -> dryRun.isTrue(Map.of("llm.dryRun", "yes"), NONE, false))
        .hasMessage("llm.dryRun=yes: expected true or false");
  }

  @Test
  void invalidValueIsReportedWithItsSetting() {
    Map<String, String> wrong = Map.of("llm.selfTestFile", "x");
    assertThat(FILE.<Integer>read(NONE, NONE, Integer::valueOf)).isNull();
    assertThatThrownBy(() -> FILE.read(wrong, NONE, Integer::valueOf))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("llm.selfTestFile=x: For input string: \"x\"");
  }
}
