package io.github.gatlingllm.simulations;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.simulations.SettingEntry.Rule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The settings that the user has set. The first of these sources that has a value wins: the system
 * property {@code llm.maxTokens}, the environment variable {@code LLM_MAX_TOKENS}, the same name in
 * {@code .env}. In {@code .env} the names {@code ENDPOINT}, {@code API_KEY} and {@code MODEL} work
 * too. An empty value in the environment or in {@code .env} counts as not set.
 *
 * <p>An unknown system property {@code llm.*} is refused. An unknown {@code LLM_*} name in the
 * environment or in {@code .env} is only a warning, because it may belong to another program.
 */
final class Settings {

  /** Longest part of a value that a message shows. */
  private static final int SHOWN_CHARS = 60;

  /** Longest message. */
  private static final int MESSAGE_CHARS = 200;

  /** Shorter keys are not replaced in messages: ordinary words may contain them. */
  private static final int REDACTED_CHARS = 6;

  private static final Pattern URL_CREDENTIALS = Pattern.compile("//[^/,]*@");

  private static final String PROPERTY_PREFIX = "llm.";
  private static final String VARIABLE_PREFIX = "LLM_";
  private static final String HEADER_PROPERTY_PREFIX =
      Setting.HEADER.property().replace("<Name>", "");
  private static final String HEADER_VARIABLE_PREFIX =
      Setting.HEADER.variable().replace("<NAME>", "");
  private static final List<SettingEntry<?>> SHORT_NAMES =
      List.of(Setting.ENDPOINT, Setting.API_KEY, Setting.MODEL);

  private final Map<SettingEntry<?>, Text> texts = new HashMap<>();
  private final Map<SettingEntry<?>, @Nullable Object> values = new HashMap<>();
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

  private record Text(String text, Source source, String name) {

    /** The source, for messages; empty for a system property, whose name messages begin with. */
    private String where() {
      return switch (source) {
        case PROPERTY -> "";
        case ENVIRONMENT -> " (" + name + " in the environment)";
        case ENV_FILE -> " (" + name + " in .env)";
      };
    }
  }

  /** Collects the settings of these sources. */
  Settings(Map<String, String> properties, Map<String, String> environment, Path envFile) {
    EnvFile dotEnv = EnvFile.read(envFile);
    warnings.addAll(dotEnv.warnings());
    for (SettingEntry<?> setting : SHORT_NAMES) {
      String name = setting.variable().substring(VARIABLE_PREFIX.length());
      put(setting, new Text(get(dotEnv.values(), name), Source.ENV_FILE, name));
    }
    collectVariables(dotEnv.values(), Source.ENV_FILE);
    collectVariables(environment, Source.ENVIRONMENT);
    collectProperties(properties);
    if (source(Setting.API_KEY) == Source.PROPERTY) {
      warnings.add("llm.apiKey is a system property, which ps shows to all; put it into .env");
    }
  }

  /**
   * The settings of this process: system properties, environment, {@code .env} of its directory.
   */
  static Settings ofProcess() {
    Map<String, String> properties = new LinkedHashMap<>();
    for (String name : System.getProperties().stringPropertyNames()) {
      properties.put(name, System.getProperty(name));
    }
    return new Settings(properties, System.getenv(), Path.of(".env"));
  }

  /** Warnings to print before the run. */
  List<String> warnings() {
    return List.copyOf(warnings);
  }

  /** The set values by name, safe to print and record: secrets are replaced by stars. */
  Map<String, String> shown() {
    Map<String, String> shown = new LinkedHashMap<>();
    Setting.all().stream()
        .filter(this::isSet)
        .forEach(setting -> shown.put(setting.name(), shownText(setting)));
    headers.keySet().forEach(name -> shown.put("header." + name, "***"));
    return Collections.unmodifiableMap(shown);
  }

  /** The source of the setting's value; null if the setting is not set. */
  @Nullable Source source(SettingEntry<?> setting) {
    Text text = texts.get(setting);
    return text == null ? null : text.source;
  }

  /** The setting's value as the user wrote it; null if the setting is not set. */
  @Nullable String text(SettingEntry<?> setting) {
    Text text = texts.get(setting);
    return text == null ? null : text.text;
  }

  boolean isSet(SettingEntry<?> setting) {
    return texts.containsKey(setting);
  }

  /** The setting's value, or its default. */
  @SuppressWarnings("unchecked") // the map holds the value of each setting by that setting
  <T extends @Nullable Object> T get(SettingEntry<T> setting) {
    if (!values.containsKey(setting)) {
      values.put(setting, value(setting));
    }
    return (T) values.get(setting);
  }

  private <T extends @Nullable Object> T value(SettingEntry<T> setting) {
    String text = text(setting);
    if (text == null) {
      return setting.defaultValue(isSet(Setting.ENDPOINT));
    }
    try {
      return setting.parse(text);
    } catch (IllegalArgumentException e) {
      throw invalid(setting, String.valueOf(e.getMessage()));
    }
  }

  /** Parses every setting that is set, used or not, and applies the rules of the catalogue. */
  void check() {
    List<SettingEntry<?>> set = Setting.all().stream().filter(this::isSet).toList();
    set.forEach(setting -> check(setting, rule -> rule.applies() == null && !rule.needs()));
    set.forEach(this::get);
    set.forEach(setting -> check(setting, rule -> true));
  }

  private <T extends @Nullable Object> void check(
      SettingEntry<T> setting, Predicate<Rule<T>> which) {
    for (Rule<T> rule : setting.rules()) {
      if (which.test(rule) && (rule.applies() == null || rule.applies().test(get(setting)))) {
        rule.others().forEach(other -> check(setting, rule, other));
      }
    }
  }

  private void check(SettingEntry<?> setting, Rule<?> rule, String otherName) {
    SettingEntry<?> other = Objects.requireNonNull(Setting.named(otherName));
    if (rule.needs() && !isSet(other)) {
      throw invalid(setting, rule.why() + "; set " + other.property() + " too");
    }
    // A flag that is explicitly false contradicts nothing.
    boolean off = "false".equalsIgnoreCase(text(other)) && Boolean.FALSE.equals(get(other));
    if (!rule.needs() && isSet(other) && !off) {
      throw excluded(setting, other, rule.why());
    }
  }

  private InvalidSimulation excluded(SettingEntry<?> setting, SettingEntry<?> other, String why) {
    return invalid(setting, "cannot be set together with " + other.property() + " (" + why + ")");
  }

  /** Discards all other settings that come from the environment and from {@code .env}. */
  void keepOnly(Set<SettingEntry<?>> kept, SettingEntry<?> because, String why) {
    texts.keySet().removeIf(set -> !kept.contains(set) && source(set) != Source.PROPERTY);
    values.keySet().retainAll(kept);
    for (SettingEntry<?> set : Setting.all()) {
      if (isSet(set) && !kept.contains(set)) {
        throw excluded(because, set, why);
      }
    }
  }

  /** Gives settings a value that the user has not set. */
  void preset(Map<SettingEntry<?>, String> presets) {
    presets.forEach(
        (setting, text) ->
            texts.putIfAbsent(setting, new Text(text, Source.PROPERTY, setting.property())));
    values.keySet().removeAll(presets.keySet());
  }

  /** Extra request headers; names are compared case-insensitively. */
  Map<String, String> headers() {
    return Collections.unmodifiableMap(headers);
  }

  void warn(String line) {
    warnings.add(redacted(line));
  }

  /** An exception to throw, with the message {@code llm.<name>=<value>: <what is wrong>}. */
  InvalidSimulation invalid(SettingEntry<?> setting, String what) {
    Text text = texts.get(setting);
    String shown =
        text == null ? "" : (setting.isSecret() ? "" : "=" + shownText(setting)) + text.where();
    String line = redacted(setting.property() + shown + ": " + what);
    return InvalidSimulation.because(
        line.length() <= MESSAGE_CHARS ? line : line.substring(0, MESSAGE_CHARS - 1) + "…");
  }

  private void collectProperties(Map<String, String> properties) {
    for (String name : new TreeSet<>(properties.keySet())) {
      if (!name.startsWith(PROPERTY_PREFIX)) {
        continue;
      }
      String text = get(properties, name);
      if (text.isEmpty()) {
        throw InvalidSimulation.because(name + " is empty; give it a value or leave it out");
      }
      if (name.startsWith(HEADER_PROPERTY_PREFIX)) {
        putHeader(name, name.substring(HEADER_PROPERTY_PREFIX.length()), text);
        continue;
      }
      String key = name.substring(PROPERTY_PREFIX.length());
      SettingEntry<?> setting = Setting.named(key);
      if (setting == null) {
        throw InvalidSimulation.because(
            clipped(name) + " is not a setting; did you mean " + suggestion(key) + "?");
      }
      put(setting, new Text(text, Source.PROPERTY, name));
    }
  }

  private void collectVariables(Map<String, String> variables, Source source) {
    for (String name : new TreeSet<>(variables.keySet())) {
      if (!name.startsWith(VARIABLE_PREFIX)) {
        continue;
      }
      String text = get(variables, name);
      SettingEntry<?> setting = Setting.ofVariable(name);
      if (setting != null) {
        put(setting, new Text(text, source, name));
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
    return (key.startsWith("header") ? Setting.HEADER : Setting.nearest(key)).property();
  }

  private void put(SettingEntry<?> setting, Text text) {
    if (!text.text.isEmpty()) {
      texts.put(setting, text);
    }
  }

  private void putHeader(String name, String header, String text) {
    if (!header.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
      throw InvalidSimulation.because(
          clipped(name) + ": expected a header name, e.g. llm.header.X-Tenant");
    }
    if (!text.matches("[\\t\\x20-\\x7e]+")) {
      throw InvalidSimulation.because(
          clipped(name) + ": expected printable ASCII as the header's value");
    }
    headers.put(header, text);
  }

  private String shownText(SettingEntry<?> setting) {
    if (setting.isSecret()) {
      return "***";
    }
    String text = String.valueOf(text(setting));
    if (setting == Setting.ENDPOINT) {
      text = Secrets.redactUrl(URL_CREDENTIALS.matcher(text).replaceAll("//***@"));
    }
    return clipped(redacted(text));
  }

  private static String clipped(String text) {
    String line = text.replaceAll("\\s+", " ");
    return line.length() <= SHOWN_CHARS ? line : line.substring(0, SHOWN_CHARS - 1) + "…";
  }

  private String redacted(String line) {
    String clean = line;
    String keys = text(Setting.API_KEY);
    if (keys != null) {
      for (String key : keys.split(",", -1)) {
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
