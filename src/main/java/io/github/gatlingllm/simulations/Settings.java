package io.github.gatlingllm.simulations;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the user set, looked up in this order: system property {@code llm.maxTokens}, environment
 * {@code LLM_MAX_TOKENS}, the same name in {@code .env}; there also {@code ENDPOINT}, {@code
 * API_KEY} and {@code MODEL}. An empty value in the environment or in {@code .env} counts as not
 * set.
 *
 * <p>Unknown system properties {@code llm.*} are refused; unknown {@code LLM_*} names elsewhere may
 * belong to another program and are only warned about.
 */
public final class Settings {

  /** Longest part of a value that a message shows. */
  private static final int SHOWN_CHARS = 60;

  /** Longest message. */
  private static final int MESSAGE_CHARS = 200;

  /** A shorter key is too likely to be part of an innocent word. */
  private static final int REDACTED_CHARS = 6;

  private static final Pattern URL_CREDENTIALS = Pattern.compile("//[^/,]*@");

  private static final String PROPERTY_PREFIX = "llm.";
  private static final String VARIABLE_PREFIX = "LLM_";
  private static final String HEADER_PROPERTY_PREFIX = "llm.header.";
  private static final String HEADER_VARIABLE_PREFIX = "LLM_HEADER_";
  private static final List<Setting> SHORT_NAMES =
      List.of(Setting.ENDPOINT, Setting.API_KEY, Setting.MODEL);

  private final Map<Setting, Value> values = new EnumMap<>(Setting.class);
  private final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  private final List<String> warnings = new ArrayList<>();

  /** Where a value was found. */
  enum Source {
    /** A system property. */
    PROPERTY,
    /** An environment variable. */
    ENVIRONMENT,
    /** A line of {@code .env}. */
    ENV_FILE
  }

  private record Value(String text, Source source, String name) {

    /** The setting as its user knows it: by another name than the property's where he used one. */
    private String where() {
      return switch (source) {
        case PROPERTY -> "";
        case ENVIRONMENT -> " (" + name + " in the environment)";
        case ENV_FILE -> " (" + name + " in .env)";
      };
    }
  }

  /**
   * Collects the settings of these sources.
   *
   * @throws InvalidSetting for a system property {@code llm.*} that is unknown or empty, a setting
   *     that this version does not have, or a {@code .env} that cannot be read
   */
  public Settings(Map<String, String> properties, Map<String, String> environment, Path envFile) {
    EnvFile dotEnv = EnvFile.read(envFile);
    warnings.addAll(dotEnv.warnings());
    for (Setting setting : SHORT_NAMES) {
      put(
          setting,
          new Value(get(dotEnv.values(), setting.name()), Source.ENV_FILE, setting.name()));
    }
    collectVariables(dotEnv.values(), Source.ENV_FILE);
    collectVariables(environment, Source.ENVIRONMENT);
    collectProperties(properties);
    values.forEach(this::refuseUnavailable);
    Value key = values.get(Setting.API_KEY);
    if (key != null && key.source == Source.PROPERTY) {
      warnings.add("llm.apiKey is a system property, which ps shows to all; put it into .env");
    }
  }

  /**
   * The settings of this process: system properties, environment, {@code .env} of its directory.
   */
  public static Settings ofProcess() {
    Map<String, String> properties = new LinkedHashMap<>();
    for (String name : System.getProperties().stringPropertyNames()) {
      properties.put(name, System.getProperty(name));
    }
    return new Settings(properties, System.getenv(), Path.of(".env"));
  }

  /** Lines to show before the run; none of them stops it. */
  public List<String> warnings() {
    return List.copyOf(warnings);
  }

  /** What was set, by name, fit to be shown and recorded: secrets are replaced by stars. */
  public Map<String, String> shown() {
    Map<String, String> shown = new LinkedHashMap<>();
    values.forEach((setting, value) -> shown.put(setting.key(), shownText(setting, value)));
    headers.keySet().forEach(name -> shown.put("header." + name, "***"));
    return Collections.unmodifiableMap(shown);
  }

  /** Where the setting's value comes from; null when it has its default. */
  @Nullable Source source(Setting setting) {
    Value value = values.get(setting);
    return value == null ? null : value.source;
  }

  /** The setting's text; null when it is not set. */
  @Nullable String text(Setting setting) {
    Value value = values.get(setting);
    return value == null ? null : value.text;
  }

  boolean isSet(Setting setting) {
    return values.containsKey(setting);
  }

  /** Extra request headers; names are compared without case. */
  Map<String, String> headers() {
    return Collections.unmodifiableMap(headers);
  }

  void warn(String line) {
    warnings.add(redacted(line));
  }

  /** {@code llm.<name>=<value>: <what is wrong>}, as an exception to throw. */
  InvalidSetting invalid(Setting setting, String what) {
    Value value = values.get(setting);
    String shown =
        value == null
            ? ""
            : (setting.isSecret() ? "" : "=" + shownText(setting, value)) + value.where();
    String line = redacted(setting.property() + shown + ": " + what);
    return new InvalidSetting(
        line.length() <= MESSAGE_CHARS ? line : line.substring(0, MESSAGE_CHARS - 1) + "…");
  }

  private void collectProperties(Map<String, String> properties) {
    for (String name : new TreeSet<>(properties.keySet())) {
      if (!name.startsWith(PROPERTY_PREFIX)) {
        continue;
      }
      String text = get(properties, name);
      if (text.isEmpty()) {
        throw new InvalidSetting(name + " is empty; give it a value or leave it out");
      }
      if (name.startsWith(HEADER_PROPERTY_PREFIX)) {
        putHeader(name, name.substring(HEADER_PROPERTY_PREFIX.length()), text);
        continue;
      }
      String key = name.substring(PROPERTY_PREFIX.length());
      Setting setting = Setting.ofKey(key);
      if (setting == null) {
        throw new InvalidSetting(
            clipped(name) + " is not a setting; did you mean " + suggestion(key) + "?");
      }
      put(setting, new Value(text, Source.PROPERTY, name));
    }
  }

  private void collectVariables(Map<String, String> variables, Source source) {
    for (String name : new TreeSet<>(variables.keySet())) {
      if (!name.startsWith(VARIABLE_PREFIX)) {
        continue;
      }
      String text = get(variables, name);
      Setting setting = Setting.ofVariable(name);
      if (setting != null) {
        put(setting, new Value(text, source, name));
      } else if (name.startsWith(HEADER_VARIABLE_PREFIX) && !text.isEmpty()) {
        putHeader(name, name.substring(HEADER_VARIABLE_PREFIX.length()).replace('_', '-'), text);
      } else if (!text.isEmpty()) {
        String key = name.substring(VARIABLE_PREFIX.length());
        warnings.add(
            clipped(name)
                + (source == Source.ENV_FILE ? " in .env" : " in the environment")
                + " is not a setting and has no effect; did you mean "
                + Setting.nearest(key).variable()
                + "?");
      }
    }
  }

  private static String suggestion(String key) {
    return key.startsWith("header") ? "llm.header.<Name>" : Setting.nearest(key).property();
  }

  private void put(Setting setting, Value value) {
    if (!value.text.isEmpty()) {
      values.put(setting, value);
    }
  }

  private void putHeader(String name, String header, String text) {
    if (!header.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
      throw new InvalidSetting(
          clipped(name) + ": expected a header name, e.g. llm.header.X-Tenant");
    }
    if (!text.matches("[\\t\\x20-\\x7e]+")) {
      throw new InvalidSetting(clipped(name) + ": expected printable ASCII as the header's value");
    }
    headers.put(header, text);
  }

  private void refuseUnavailable(Setting setting, Value value) {
    if (!setting.isAvailable()) {
      throw new InvalidSetting(
          setting.property() + value.where() + " is not available in this version");
    }
  }

  private String shownText(Setting setting, Value value) {
    if (setting.isSecret()) {
      return "***";
    }
    String text = value.text;
    if (setting == Setting.ENDPOINT) {
      text = URL_CREDENTIALS.matcher(text).replaceAll("//***@");
    }
    return clipped(redacted(text));
  }

  private static String clipped(String text) {
    String line = text.replaceAll("\\s+", " ");
    return line.length() <= SHOWN_CHARS ? line : line.substring(0, SHOWN_CHARS - 1) + "…";
  }

  private String redacted(String line) {
    String clean = line;
    Value keys = values.get(Setting.API_KEY);
    if (keys != null) {
      for (String key : keys.text.split(",", -1)) {
        if (key.strip().length() >= REDACTED_CHARS) {
          clean = clean.replace(key.strip(), "***");
        }
      }
    }
    return clean;
  }

  private static String get(Map<String, String> map, String name) {
    return map.getOrDefault(name, "").strip();
  }
}
