package io.github.gatlingllm.record;

import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A setting that a process reads whatever simulation it runs: a system property such as {@code
 * llm.startAt}, else the environment variable {@code LLM_START_AT}. A blank value counts as not
 * set; a blank property hides the variable.
 */
public record ProcessSetting(String property, String variable) {

  public ProcessSetting(String property) {
    this(
        property,
        property.replace('.', '_').replaceAll("([a-z])([A-Z])", "$1_$2").toUpperCase(Locale.ROOT));
  }

  public @Nullable String text() {
    return text(System.getProperties(), System.getenv());
  }

  /** The value in these properties and variables, stripped; null where not set. */
  public @Nullable String text(Map<?, ?> properties, Map<String, String> environment) {
    Object set = properties.get(property);
    String text = set == null ? environment.get(variable()) : set.toString();
    return text == null || text.isBlank() ? null : text.strip();
  }

  public boolean isTrue(boolean otherwise) {
    return isTrue(System.getProperties(), System.getenv(), otherwise);
  }

  boolean isTrue(Map<?, ?> properties, Map<String, String> environment, boolean otherwise) {
    Boolean set = read(properties, environment, ProcessSetting::booleanOf);
    return set == null ? otherwise : set;
  }

  public static Boolean booleanOf(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("expected true or false");
    };
  }

  /** Parses the value; null where it is not set. A message begins with the setting. */
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
