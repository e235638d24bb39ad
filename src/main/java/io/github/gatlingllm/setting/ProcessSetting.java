package io.github.gatlingllm.setting;

import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A system property such as {@code llm.startAt}; where it is not set, {@code LLM_START_AT} in the
 * environment. A blank one says nothing; a blank property hides the variable.
 */
public record ProcessSetting(String property) {

  /** Its name in the environment. */
  public String variable() {
    return property
        .replace('.', '_')
        .replaceAll("([a-z])([A-Z])", "$1_$2")
        .toUpperCase(Locale.ROOT);
  }

  /** What this process was told; null for nothing. */
  public @Nullable String text() {
    return text(System.getProperties(), System.getenv());
  }

  /** What a process was told that has these; null for nothing. */
  public @Nullable String text(Map<?, ?> properties, Map<String, String> environment) {
    Object set = properties.get(property);
    String text = set == null ? environment.get(variable()) : set.toString();
    return text == null || text.isBlank() ? null : text.strip();
  }

  /**
   * The same in a form.
   *
   * @throws IllegalArgumentException for what has not that form, in one line that begins with the
   *     setting
   */
  public <T> @Nullable T read(
      Map<?, ?> properties, Map<String, String> environment, Function<String, T> form) {
    String text = text(properties, environment);
    try {
      return text == null ? null : form.apply(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(property + "=" + text + ": " + e.getMessage(), e);
    }
  }
}
