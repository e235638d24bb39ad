package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;

/** Settings with arbitrary text. Saved inputs are in {@code SettingsFuzzTestInputs}. */
class SettingsFuzzTest {

  /** A value is read, or refused with words. */
  @FuzzTest
  void value(FuzzedDataProvider data) {
    SettingEntry<?> setting = data.pickValue(Setting.all());
    String text = data.consumeRemainingAsString();
    if (text.indexOf('/') >= 0) {
      return; // some settings name files, and read them
    }
    try {
      setting.parse(text);
    } catch (IllegalArgumentException refused) {
      assertThat(refused.getMessage()).isNotBlank();
    }
  }
}
