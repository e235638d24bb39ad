package io.github.gatlingllm.settings;

import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.run.MetricsPage;
import io.github.gatlingllm.settings.Setting.SettingTrait;
import io.github.gatlingllm.settings.SettingValue.NamedUrl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the user has set; a system property wins over the environment, that over the file {@code
 * llm.config}, that over {@code .env}. An unknown {@code LLM_*} name there is only a warning,
 * because it may belong to another program.
 */
public final class Settings {
  private static final int SHOWN_CHARS = 60; // of a value in a message
  private static final int MESSAGE_CHARS = 200;

  /** Shorter keys are not replaced in messages: ordinary words may contain them. */
  private static final int REDACTED_CHARS = 6;

  private static final Pattern URL_CREDENTIALS = Pattern.compile("//[^/,]*@");

  private static final Pattern HEADER_NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

  private static final String ENV_FILE = ".env";
  private static final String PROPERTY_PREFIX = "llm.";
  private static final String VARIABLE_PREFIX = "LLM_";
  private static final String HEADER_KEY_PREFIX = Setting.HEADER.name.replace("<Name>", "");
  private static final Pattern CLASS_KEY = Pattern.compile("class\\.([A-Za-z][\\w-]{0,39})\\.(.+)");
  private static final Pattern CLASS_VARIABLE =
      Pattern.compile("LLM_CLASS_([A-Z][A-Z0-9]*)_(\\w+)");
  private static final String HEADER_VARIABLE_PREFIX =
      Setting.HEADER.variable().replace("<NAME>", "");

  private static @Nullable Settings ofProcess;

  private final Map<Setting<?>, Text> texts = new HashMap<>();
  private final Map<Setting<?>, @Nullable Object> values = new HashMap<>();
  private final Set<Setting<?>> notCommon = new HashSet<>(); // of the class of traffic
  private final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  private final List<String> warnings;

  /** What the classes of traffic have of their own, by their names. */
  private final Map<String, Settings> classes = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

  /** Of a class of traffic: all settings, and its name; else null. */
  private final @Nullable Settings common;

  private final @Nullable String ofClass;

  /** Where a text is from; a file that {@code llm.env} names counts as the environment. */
  private enum Source {
    PRESET,
    PROPERTY,
    ENVIRONMENT,
    CONFIG_FILE,
    ENV_FILE
  }

  /**
   * A setting's text.
   *
   * @param where in a message after the setting; empty where it is a property
   */
  private record Text(String text, Source source, String where) {}

  private Settings(@Nullable Settings common, @Nullable String ofClass) {
    this.common = common;
    this.ofClass = ofClass;
    warnings = common == null ? new ArrayList<>() : common.warnings;
  }

  public Settings(Map<String, String> properties, Map<String, String> environment, Path envFile) {
    this(null, null);
    String named = Setting.ENV.ofProcess().text(properties, environment);
    String inFile = " in " + (named == null ? ENV_FILE : named);
    String shown = named == null ? ENV_FILE : "llm.env=" + named;
    Map<String, String> dotEnv =
        named == null && Files.notExists(envFile)
            ? Map.of()
            : ConfigFile.variables(
                ConfigFile.text(named == null ? envFile.toString() : named, shown),
                named == null ? ENV_FILE : named,
                warnings);
    Source file = named == null ? Source.ENV_FILE : Source.ENVIRONMENT;
    for (Setting<?> setting : List.of(Setting.ENDPOINT, Setting.API_KEY, Setting.MODEL)) {
      String name = setting.variable().substring(VARIABLE_PREFIX.length());
      put(setting, dotEnv.getOrDefault(name, ""), file, " (" + name + inFile + ")");
    }
    new TreeMap<>(dotEnv)
        .forEach((name, text) -> collectVariable(name, text.strip(), file, inFile));
    String config = Setting.CONFIG.ofProcess().text(properties, environment);
    config = config == null ? text(Setting.CONFIG) : config;
    ConfigFile settings = config == null ? null : ConfigFile.read(config);
    if (settings != null) {
      settings
          .values()
          .forEach(
              (name, value) -> {
                String where = settings.where(value.origin());
                String text = ConfigFile.text(value).strip();
                collect(where + ": ", name, text, Source.CONFIG_FILE, where);
              });
    }
    new TreeMap<>(environment)
        .forEach(
            (name, text) ->
                collectVariable(name, text.strip(), Source.ENVIRONMENT, " in the environment"));
    new TreeMap<>(properties)
        .forEach(
            (name, text) -> {
              if (name.startsWith(PROPERTY_PREFIX)) {
                String key = name.substring(PROPERTY_PREFIX.length());
                collect(PROPERTY_PREFIX, key, text.strip(), Source.PROPERTY, "");
              }
            });
    if (source(Setting.API_KEY) == Source.PROPERTY) {
      warnings.add("llm.apiKey is a system property, which ps shows to all; put it into .env");
    }
  }

  /** Whether HTTP allows it as the name of a header. */
  public static boolean isHeaderName(String name) {
    return HEADER_NAME.matcher(name).matches();
  }

  /** Those of this process, which are read once. */
  public static synchronized Settings ofProcess() {
    return ofProcess == null ? read() : ofProcess;
  }

  /** Those of this process, which are read again: for a run that begins with them. */
  public static synchronized Settings read() {
    ofProcess = ofProcess(Map.of());
    return ofProcess;
  }

  /** With options of the command line, which win. */
  public static Settings ofProcess(Map<String, String> options) {
    Map<String, String> properties = new HashMap<>();
    System.getProperties()
        .stringPropertyNames()
        .forEach(name -> properties.put(name, System.getProperty(name)));
    options.forEach((name, text) -> properties.put(PROPERTY_PREFIX + name, text));
    return new Settings(properties, System.getenv(), Path.of(ENV_FILE));
  }

  /** Takes a text by the name of its setting; a prefix makes that the name in a message. */
  private void collect(String prefix, String key, String text, Source source, String where) {
    String name = prefix + clipped(key);
    if (text.isEmpty()) {
      throw new IllegalArgumentException(name + " is empty; give it a value or leave it out");
    }
    Setting<?> setting = Setting.named(key);
    Matcher ofClass = CLASS_KEY.matcher(key);
    if (ofClass.matches()) {
      collectOfClass(name, ofClass.group(1), ofClass.group(2), text, source, where);
    } else if (key.startsWith(HEADER_KEY_PREFIX)) {
      putHeader(name, key.substring(HEADER_KEY_PREFIX.length()), text);
    } else if (setting == null) {
      String plain =
          key.startsWith(PROPERTY_PREFIX) ? key.substring(PROPERTY_PREFIX.length()) : key;
      boolean isHeader = key.startsWith("header");
      throw new IllegalArgumentException(
          name
              + " is not a setting; "
              + Setting.suggestion(
                  isHeader ? Setting.HEADER.name : plain,
                  any -> true,
                  nearest -> source == Source.PROPERTY ? nearest.property() : nearest.name));
    } else if (source == Source.CONFIG_FILE && setting.is(SettingTrait.READ_FIRST)) {
      throw new IllegalArgumentException(
          name + " is read before this file; use include, or set it on the command line");
    } else {
      put(setting, text, source, where.isEmpty() ? "" : " (" + where + ")");
    }
  }

  private void collectOfClass(
      String name, String className, String key, String text, Source source, String where) {
    Setting<?> setting = key.startsWith(HEADER_KEY_PREFIX) ? Setting.HEADER : Setting.named(key);
    if (setting == null || !setting.is(SettingTrait.OF_CLASS)) {
      throw new IllegalArgumentException(
          name
              + " is not a setting of a class of traffic; "
              + Setting.suggestion(key, each -> each.is(SettingTrait.OF_CLASS), each -> each.name));
    }
    if (classes.containsKey(className)
        && !Objects.requireNonNull(classes.get(className).ofClass).equals(className)) {
      throw new IllegalArgumentException(
          "%s: the class of traffic is also called %s; write it alike everywhere"
              .formatted(name, classes.get(className).ofClass));
    }
    Settings own = classes.computeIfAbsent(className, c -> new Settings(this, className));
    if (setting == Setting.HEADER) {
      own.putHeader(name, key.substring(HEADER_KEY_PREFIX.length()), text);
    } else {
      own.put(setting, text, source, where.isEmpty() ? "" : " (" + where + ")");
    }
  }

  private void collectVariable(String name, String text, Source source, String in) {
    if (!name.startsWith(VARIABLE_PREFIX) || text.isEmpty()) {
      return;
    }
    Setting<?> setting = Setting.ofVariable(name);
    Matcher ofClass = CLASS_VARIABLE.matcher(name);
    Setting<?> own = ofClass.matches() ? Setting.ofVariable("LLM_" + ofClass.group(2)) : null;
    if (own != null) {
      String className = ofClass.group(1).toLowerCase(Locale.ROOT);
      collectOfClass(name, className, own.name, text, source, name + in);
    } else if (setting != null) {
      put(setting, text, source, " (" + name + in + ")");
    } else if (name.startsWith(HEADER_VARIABLE_PREFIX)) {
      putHeader(name, name.substring(HEADER_VARIABLE_PREFIX.length()).replace('_', '-'), text);
    } else {
      String key = name.substring(VARIABLE_PREFIX.length());
      ConfigFile.warn(
          warnings,
          () ->
              clipped(name)
                  + in
                  + " is not a setting and has no effect; "
                  + Setting.suggestion(key, any -> true, Setting::variable));
    }
  }

  private void put(Setting<?> setting, String text, Source source, String where) {
    if (!text.isBlank()) {
      texts.put(setting, new Text(text.strip(), source, where));
      notCommon.add(setting);
    }
  }

  private void putHeader(String name, String header, String text) {
    if (!isHeaderName(header)) {
      throw new IllegalArgumentException(
          clipped(name) + ": expected a header name, e.g. llm.header.X-Tenant");
    }
    if (!text.matches("[\\t\\x20-\\x7e]+")) {
      throw new IllegalArgumentException(
          clipped(name) + ": expected printable ASCII as the header's value");
    }
    headers.put(header, text);
  }

  public List<String> warnings() {
    return List.copyOf(warnings);
  }

  /** The set values by name, safe to print and record: secrets are replaced by stars. */
  public Map<String, String> shown() {
    if (common != null) {
      return common.shown();
    }
    Map<String, String> shown = ownShown();
    shown.remove(Setting.CLASS.name);
    for (Settings own : classes.values()) {
      own.ownShown().forEach((setting, text) -> shown.put(own.prefix() + setting, text));
    }
    return shown;
  }

  private Map<String, String> ownShown() {
    Map<String, String> shown = new LinkedHashMap<>();
    Setting.all().stream()
        .filter(texts::containsKey)
        .forEach(setting -> shown.put(setting.name, shownText(setting)));
    headers.keySet().forEach(name -> shown.put("header." + name, "***"));
    return shown;
  }

  /** Whether the user has set it for this run, not for all programs of a machine or folder. */
  public boolean isExplicit(Setting<?> setting) {
    Source source = source(setting);
    return source == Source.PROPERTY || source == Source.CONFIG_FILE;
  }

  /** Whether it is only in the file {@code .env}, which a simulation in code wins over. */
  public boolean isOfEnvFile(Setting<?> setting) {
    return source(setting) == Source.ENV_FILE;
  }

  private @Nullable Source source(Setting<?> setting) {
    Text text = setting == Setting.CLASS ? anyOfClasses() : texts.get(setting);
    return text == null ? null : text.source;
  }

  public @Nullable String text(Setting<?> setting) {
    Text text = texts.get(setting);
    return text == null ? null : text.text;
  }

  public boolean isSet(Setting<?> setting) {
    return setting == Setting.CLASS ? !classNames().isEmpty() : texts.containsKey(setting);
  }

  private @Nullable Text anyOfClasses() {
    return classes.values().stream()
        .flatMap(own -> own.texts.values().stream())
        .min(Comparator.comparing(Text::source))
        .orElse(null);
  }

  /** The names of the classes of traffic; empty for a load of one. */
  public List<String> classNames() {
    return common == null ? List.copyOf(classes.keySet()) : common.classNames();
  }

  /** The class of traffic that these are of; null for the settings of a load of one. */
  public @Nullable String className() {
    return ofClass;
  }

  /** A setting that classes of traffic have in common. */
  public <T extends @Nullable Object> T common(Setting<T> setting) {
    return common == null ? get(setting) : common.get(setting);
  }

  /** Begins the name of a setting in messages. */
  private String prefix() {
    return ofClass == null ? "" : "class." + ofClass + ".";
  }

  /** Those of each class of traffic: its own, and the common ones that these do not exclude. */
  public List<Settings> ofClasses() {
    if (isSet(Setting.WEIGHT)) {
      throw invalid(
          Setting.WEIGHT,
          "a weight belongs to one class of traffic, such as llm.class.chat.weight");
    }
    classes.values().forEach(Settings::requireLoad);
    return classes.values().stream().map(this::with).toList();
  }

  private static final List<Setting<?>> LOADS =
      List.of(Setting.RATE, Setting.CONCURRENCY, Setting.ARRIVAL);

  private void requireLoad() {
    Setting<?> load = LOADS.stream().filter(this::isSet).findFirst().orElse(null);
    if (load == null && !isSet(Setting.WEIGHT)) {
      throw new IllegalArgumentException(
          "llm.%srate: class of traffic '%s' has no load; set its rate, concurrency or weight"
              .formatted(prefix(), ofClass));
    }
    if (load != null && isSet(Setting.WEIGHT)) {
      throw invalid(
          Setting.WEIGHT,
          "a class of traffic has a share of the common load or its own; leave out "
              + PROPERTY_PREFIX
              + prefix()
              + load.name);
    }
  }

  private Settings with(Settings own) {
    Settings all = new Settings(this, own.ofClass);
    texts.forEach(
        (setting, text) -> {
          if (own.texts.keySet().stream()
              .noneMatch(each -> own.excludes(each, setting) || excludes(setting, each))) {
            all.texts.put(setting, text);
          }
        });
    all.headers.putAll(headers);
    all.headers.putAll(own.headers);
    all.texts.remove(Setting.INTERFERENCE);
    all.texts.putAll(own.texts);
    all.notCommon.addAll(own.notCommon);
    if (own.isSet(Setting.WEIGHT)) {
      all.texts.remove(Setting.WEIGHT);
      share(own, all);
    }
    return all;
  }

  /** Gives a class of traffic its part of the common rates or concurrencies. */
  private void share(Settings own, Settings all) {
    double before = 0;
    double sum = 0;
    for (Settings each : classes.values()) {
      double weight = Objects.requireNonNullElse(each.get(Setting.WEIGHT), 0.0);
      before = each == own ? sum : before;
      sum += weight;
    }
    double from = before / sum;
    double to = (before + Objects.requireNonNull(own.get(Setting.WEIGHT))) / sum;
    boolean isRate = isSet(Setting.RATE);
    if (isRate && LoadForms.isCurve(get(Setting.RATE))) {
      throw invalid(Setting.RATE, "classes share rates by weight; a curve belongs to one class");
    }
    List<String> parts =
        isRate
            ? get(Setting.RATE).stream()
                .map(
                    rate ->
                        NumberText.plain(Math.round(rate.perSecond() * (to - from) * 1e9) / 1e9))
                .toList()
            : get(Setting.CONCURRENCY).stream()
                .map(users -> Math.round(users * to) - Math.round(users * from))
                .map(String::valueOf)
                .toList();
    Setting<?> shared = isRate ? Setting.RATE : Setting.CONCURRENCY;
    if (parts.contains("0") || new HashSet<>(parts).size() < parts.size()) {
      throw invalid(
          shared,
          "too few for the weights: class of traffic '%s' would have %s"
              .formatted(own.ofClass, String.join(", ", parts)));
    }
    all.texts.put(shared, new Text(String.join(",", parts), Source.PRESET, ""));
  }

  @SuppressWarnings("unchecked") // the map holds the value of each setting by that setting
  public <T extends @Nullable Object> T get(Setting<T> setting) {
    if (!values.containsKey(setting)) {
      values.put(setting, value(setting));
    }
    return (T) values.get(setting);
  }

  private <T extends @Nullable Object> T value(Setting<T> setting) {
    String text = text(setting);
    if (text == null) {
      return setting.defaultValue(isSet(Setting.ENDPOINT));
    }
    return checked(setting, () -> setting.parse(text));
  }

  /** What is made of a setting's value; a mistake that it finds is one of the setting. */
  public <R extends @Nullable Object> R checked(Setting<?> setting, Supplier<R> made) {
    try {
      return made.get();
    } catch (IllegalArgumentException e) {
      throw invalid(setting, String.valueOf(e.getMessage()));
    }
  }

  /** Applies the rules of the catalogue and parses every setting that is set, used or not. */
  public void check() {
    List<Setting<?>> set = Setting.all().stream().filter(this::isSet).toList();
    set.forEach(this::check);
    set.forEach(this::get);
  }

  private <T extends @Nullable Object> void check(Setting<T> setting) {
    setting.eachRule(
        () -> get(setting),
        (needed, why) -> {
          boolean isOfClass = classes.values().stream().anyMatch(each -> each.isSet(needed));
          boolean isOwn = common == null || notCommon.contains(setting);
          if (isOwn && !isSet(needed) && !isOfClass) {
            throw invalid(setting, why + "; set " + needed.property() + " too");
          }
        },
        (other, why) -> {
          // A flag that is explicitly false contradicts nothing.
          boolean off = "false".equalsIgnoreCase(text(other)) && Boolean.FALSE.equals(get(other));
          if (isSet(other) && !off) {
            throw excluded(setting, other, why);
          }
        });
  }

  /** Whether a setting, as it is set, cannot be set together with the other one. */
  private <T extends @Nullable Object> boolean excludes(Setting<T> setting, Setting<?> other) {
    Set<Setting<?>> excluded = new HashSet<>();
    setting.eachRule(() -> get(setting), (needed, why) -> {}, (each, why) -> excluded.add(each));
    return excluded.contains(other);
  }

  public IllegalArgumentException excluded(Setting<?> setting, Setting<?> other, String why) {
    return invalid(setting, "cannot be set together with " + other.property() + " (" + why + ")");
  }

  /** Discards all other settings that come from the environment and from files. */
  public void retainOnly(
      SettingTrait retained, Function<Setting<?>, IllegalArgumentException> refused) {
    texts.keySet().removeIf(set -> !set.is(retained) && source(set) != Source.PROPERTY);
    classes
        .values()
        .removeIf(each -> !each.texts.values().stream().anyMatch(t -> t.source == Source.PROPERTY));
    values.keySet().removeIf(set -> !set.is(retained));
    for (Setting<?> set : Setting.all()) {
      if (isSet(set) && !set.is(retained)) {
        throw refused.apply(set);
      }
    }
  }

  /** Passes settings on to the run, which reads system properties but not {@code .env}. */
  public void passOn() {
    Setting.all().stream()
        .filter(setting -> setting.is(SettingTrait.PASSED_ON) && isSet(setting))
        .forEach(setting -> System.setProperty(setting.property(), text(setting)));
  }

  public void preset(Map<Setting<?>, String> presets) {
    presets.forEach(
        (setting, text) -> texts.putIfAbsent(setting, new Text(text, Source.PRESET, "")));
    values.keySet().removeAll(presets.keySet());
  }

  /** Refuses pages of metrics whose name is not that of a target. */
  public void requireTargets(List<String> labels) {
    for (NamedUrl page : get(Setting.METRICS_URL)) {
      if (page.name() != null && !labels.contains(page.name()) && !isRole(page)) {
        String expected = "; expected one of " + labels + ", prefill, decode, or no name";
        throw invalid(Setting.METRICS_URL, "'" + page.name() + "' is not a target" + expected);
      }
    }
  }

  /** The pages of metrics of a target. */
  public List<NamedUrl> metricsPages(String label) {
    return get(Setting.METRICS_URL).stream()
        .filter(page -> page.name() == null || page.name().equals(label) || isRole(page))
        .toList();
  }

  /** Whether its name is a role of a server, and not that of a target. */
  private boolean isRole(NamedUrl page) {
    return MetricsPage.inRole(page.name(), page.url()) != null
        && get(Setting.ENDPOINT).stream().noneMatch(of -> page.name().equals(of.name()));
  }

  /** With its levels repeated as set. */
  public LoadPlan.Sweep repeated(LoadPlan.Sweep sweep) {
    long seed = Seed.orOfProcess(get(Setting.SEED));
    return checked(Setting.REPEATS, () -> sweep.repeated(get(Setting.REPEATS), seed));
  }

  /** Extra request headers; names are compared case-insensitively. */
  public Map<String, String> headers() {
    return headers;
  }

  public void warn(String line) {
    warnings.add(redacted(line));
  }

  /** An exception to throw, with the message {@code llm.<name>=<value>: <what is wrong>}. */
  public IllegalArgumentException invalid(Setting<?> setting, String what) {
    Text text = texts.get(setting);
    String shown =
        text == null
            ? ""
            : (setting.is(SettingTrait.SECRET) ? "" : "=" + shownText(setting)) + text.where;
    String name =
        notCommon.contains(setting)
            ? PROPERTY_PREFIX + prefix() + setting.name
            : setting.property();
    String line = redacted(name + shown + ": " + what).replaceAll("\\s+", " ");
    return new IllegalArgumentException(
        line.length() <= MESSAGE_CHARS ? line : line.substring(0, MESSAGE_CHARS - 1) + "…");
  }

  /** Writes what is set into the file of {@code saveConfig}, if set, without secrets. */
  public void save() {
    String file = get(Setting.SAVE_CONFIG);
    if (file == null) {
      return;
    }
    Map<String, String> saved = new TreeMap<>();
    texts.forEach(
        (setting, text) -> {
          if (text.source != Source.PRESET
              && !setting.is(SettingTrait.READ_FIRST)
              && !setting.is(SettingTrait.ONCE)) {
            saved.put(setting.name, text.text);
          }
        });
    headers.forEach((name, text) -> saved.put("header." + name, text));
    for (Settings own : classes.values()) {
      own.texts.forEach((setting, text) -> saved.put(own.prefix() + setting.name, text.text));
      own.headers.forEach((name, text) -> saved.put(own.prefix() + "header." + name, text));
    }
    Set<String> secrets = new TreeSet<>();
    saved.forEach((name, text) -> secrets.addAll(isSecret(name, text) ? List.of(name) : List.of()));
    saved.keySet().removeAll(secrets);
    try {
      ConfigFile.write(Path.of(file), saved);
    } catch (IOException e) {
      throw invalid(Setting.SAVE_CONFIG, "the file cannot be written; " + RunFiles.message(e));
    }
    String without = secrets.isEmpty() ? "" : ", without " + String.join(", ", secrets);
    PrintableText.print("LLM: settings saved in " + file + without);
  }

  private boolean isSecret(String name, String text) {
    return name.equals(Setting.API_KEY.name)
        || (name.contains(HEADER_KEY_PREFIX)
            && Secrets.isNamed(
                name.substring(name.indexOf(HEADER_KEY_PREFIX) + HEADER_KEY_PREFIX.length())))
        || !redacted(text).equals(text)
        || !Secrets.redactUrl(text).equals(text)
        || URL_CREDENTIALS.matcher(text).find();
  }

  private String shownText(Setting<?> setting) {
    if (setting.is(SettingTrait.SECRET)) {
      return "***";
    }
    String text = String.valueOf(text(setting));
    if (text.contains("://") || setting == Setting.BEFORE_LEVEL || setting == Setting.AFTER_LEVEL) {
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
    for (String key : Objects.requireNonNullElse(text(Setting.API_KEY), "").split(",", -1)) {
      if (key.strip().length() >= REDACTED_CHARS) {
        clean = clean.replace(key.strip(), "***");
      }
    }
    return clean;
  }
}
