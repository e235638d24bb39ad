package io.github.gatlingllm.settings;

import io.github.gatlingllm.record.RunInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The locked rules of the benchmark AgentX for replayed sessions, and how a run differs. */
public final class AgentX {

  /** The value of {@link Setting#SCENARIO} that stands for them. */
  public static final String NAME = "agentx";

  /** The minimum time that is measured. */
  private static final Duration MEASURED = Duration.ofSeconds(RunInfo.AGENTX_SECONDS);

  private static final Map<Setting<?>, String> RULES = new LinkedHashMap<>();

  static {
    RULES.put(Setting.SESSION_GAP_CAP, "10s");
    RULES.put(Setting.SESSION_SPEED, "1");
    RULES.put(Setting.SESSION_START, "random");
    RULES.put(Setting.SESSION_ANSWERS, "recorded");
    RULES.put(Setting.UNIQUE_PROMPTS, "true");
    RULES.put(Setting.IGNORE_EOS, "true");
    RULES.put(Setting.STREAM, "true");
  }

  /** What changes the requests of a session, or ends the measuring early. */
  private static final Set<Setting<?>> UNKNOWN_TO_IT =
      Set.of(Setting.MAX_TOKENS, Setting.REQUESTS, Setting.ABANDON, Setting.SHARED_PREFIX);

  private AgentX() {}

  /** Whether settings, by their names, say that a run is to be one. */
  public static boolean isRequested(Map<String, String> texts) {
    return NAME.equalsIgnoreCase(texts.get(Setting.SCENARIO.name));
  }

  /** What it sets where nothing else is set: what differs from the defaults. */
  public static Map<Setting<?>, String> presets() {
    return Map.of(
        Setting.SESSION_GAP_CAP,
        rule(Setting.SESSION_GAP_CAP),
        Setting.SESSION_START,
        rule(Setting.SESSION_START),
        Setting.STABILIZE,
        "0",
        Setting.DURATION,
        Long.toString(MEASURED.toSeconds()));
  }

  private static String rule(Setting<?> setting) {
    return Objects.requireNonNull(RULES.get(setting));
  }

  /**
   * What differs from the rules, as {@code setting=value}.
   *
   * @param texts of what is set
   * @param measured null where only the run will tell
   */
  public static List<String> deviations(
      DryRun.Values values, Map<String, String> texts, @Nullable Duration measured) {
    List<String> deviations = new ArrayList<>();
    RULES.forEach((rule, text) -> add(deviations, rule, values.get(rule), rule.parse(text)));
    if (measured != null && measured.compareTo(MEASURED) < 0) {
      deviations.add(Setting.DURATION + "=" + SettingValue.text(measured));
    }
    UNKNOWN_TO_IT.stream()
        .map(row -> row.name)
        .filter(texts::containsKey)
        .sorted()
        .forEach(name -> deviations.add(name + "=" + texts.get(name)));
    return deviations;
  }

  private static void add(
      List<String> to, Setting<?> rule, @Nullable Object value, @Nullable Object locked) {
    boolean isOpen = value == null && rule.isOpenInCode(); // then it is as locked, if it can be
    if (!isOpen && !Objects.equals(value, locked)) {
      to.add(rule + "=" + (value == null ? "none" : SettingValue.text(value)));
    }
  }
}
