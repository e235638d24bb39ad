package io.github.gatlingllm.simulations;

import io.github.gatlingllm.simulations.SettingEntry.Group;
import java.util.Locale;

/** The output of {@code llm.help=true}: all settings by group, in at most 120 columns. */
final class SettingsHelp {

  private static final int COLUMNS = 120;
  private static final String ROW = "  %-20s %-19s ";
  private static final int INDENT = String.format(Locale.ROOT, ROW, "", "").length();

  private final StringBuilder text = new StringBuilder();

  private SettingsHelp() {}

  static String text() {
    return new SettingsHelp().all();
  }

  private String all() {
    text.append(
        """
        Settings of the benchmark. Each is a system property, -Dllm.maxTokens=256, else a variable of the environment,
        LLM_MAX_TOKENS=256, else a line like that in the file .env, else its default, which is in [brackets] here.
        A duration is in seconds (30, 0.5) or has a unit (500ms, 30s, 2m, 1h). Lists are separated by commas.
        More: docs/settings.md
        """);
    for (Group group : Group.values()) {
      text.append('\n').append(group.title).append('\n');
      Setting.all().stream().filter(setting -> setting.group == group).forEach(this::row);
    }
    return text.toString();
  }

  private void row(SettingEntry<?> setting) {
    String line = String.format(Locale.ROOT, ROW, setting.name, setting.form.shape());
    StringBuilder wrapped = new StringBuilder(line);
    int width = line.length() > INDENT ? COLUMNS : INDENT; // a long form has a line of its own
    for (String word : description(setting).split(" ", -1)) {
      if (width + word.length() > COLUMNS) {
        wrapped.append('\n').append(" ".repeat(INDENT));
        width = INDENT;
      }
      wrapped.append(word).append(' ');
      width += word.length() + 1;
    }
    text.append(wrapped.toString().replaceAll(" +(\n|$)", "$1")).append('\n');
  }

  private static String description(SettingEntry<?> setting) {
    String needs = String.join(", ", setting.needs());
    String excludes = String.join(", ", setting.excludes());
    return setting.meaning
        + " ["
        + setting.defaultText()
        + "]"
        + (needs.isEmpty() ? "" : "; needs " + needs)
        + (excludes.isEmpty() ? "" : "; not with " + excludes);
  }
}
