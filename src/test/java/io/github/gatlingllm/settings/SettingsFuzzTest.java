package io.github.gatlingllm.settings;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Settings with arbitrary text. Saved inputs are in {@code SettingsFuzzTestInputs}. */
class SettingsFuzzTest {

  @FuzzTest
  void value(FuzzedDataProvider data) {
    Setting<?> setting = data.pickValue(Setting.all());
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

  @FuzzTest
  void several(FuzzedDataProvider data) {
    Map<String, String> properties = new HashMap<>();
    for (int i = data.consumeInt(0, 4); i > 0; i--) {
      properties.put(data.pickValue(Setting.all()).property(), data.consumeAsciiString(40));
    }
    List<String> warnings = new ArrayList<>();
    String lines = "LLM_" + data.consumeRemainingAsString();
    Map<String, String> variables = ConfigFile.variables(lines, ".env", warnings);
    assertThat(warnings).hasSizeLessThan(22).allMatch(line -> line.length() < 200);
    if ((properties + variables.toString()).indexOf('/') >= 0) {
      return; // some settings name files, and read them
    }
    try {
      new Settings(properties, variables, Path.of(".none")).check();
    } catch (IllegalArgumentException refused) {
      assertThat(refused.getMessage()).isNotBlank().hasSizeLessThan(201).doesNotContain("\n", "\r");
    }
  }
}
