package io.github.gatlingllm.simulations;

import io.github.gatlingllm.record.ProcessSetting;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** An entry of the catalogue {@link Setting}: one setting of the benchmark. */
final class SettingEntry<T extends @Nullable Object> {

  /** The sections of the help text and of the reference page. */
  enum Group {
    TARGET("Target"),
    LOAD("Load"),
    LEVEL("Phases and bounds of each load level"),
    PROMPTS("Prompts"),
    REQUESTS("Requests"),
    CONNECTIONS("Connections and limits"),
    GOALS("Objectives and build gates"),
    OUTPUT("Records and reports"),
    RUN("Run");

    private final String title;

    Group(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }
  }

  /**
   * A relation to other settings: this setting either requires them or cannot be set together with
   * them.
   */
  record Rule<T extends @Nullable Object>(
      boolean needs, String when, @Nullable Predicate<T> applies, String why, List<String> others) {

    /** The name of the setting with this rule, with the values that the rule applies to. */
    String ofSetting(String name) {
      return when.isEmpty() ? name : name + " (" + when + ")";
    }

    /** The name of another setting, with the values of this one that the rule applies to. */
    String to(String other) {
      return when.isEmpty() ? other : other + " (when " + when + ")";
    }
  }

  private final Group group;
  private final String name;
  private final Form<T> form;
  private final List<Rule<T>> rules = new ArrayList<>();
  private String defaultText = "none";
  private @Nullable T defaultValue;
  private boolean defaultIsParsed;
  private @Nullable String withoutEndpoint;
  private String example = "";
  private boolean secret;
  private String meaning = "";
  private String details = "";

  SettingEntry(Group group, String name, Form<T> form) {
    this.group = group;
    this.name = name;
    this.form = form;
  }

  // ---- What the catalogue says -----------------------------------------------------------------

  /** The default, as a user would write it. */
  SettingEntry<T> byDefault(String text) {
    defaultText = text;
    defaultIsParsed = true;
    return this;
  }

  /** The default when the target is the embedded engine, as a user would write it. */
  SettingEntry<T> withoutEndpoint(String text) {
    withoutEndpoint = text;
    return this;
  }

  /** The default that no text stands for: a description for readers, and the value. */
  SettingEntry<T> unset(String words, T value) {
    defaultText = words;
    defaultValue = value;
    return this;
  }

  /** The default is null; the words describe for readers what that means. */
  @SuppressWarnings("unchecked") // the same object, of a type that says that it may be null
  SettingEntry<@Nullable T> orNull(String words) {
    defaultText = words;
    return (SettingEntry<@Nullable T>) this;
  }

  /** An example value, as a user would write it. */
  SettingEntry<T> example(String text) {
    example = text;
    return this;
  }

  /** The value is never printed or recorded. */
  SettingEntry<T> secret() {
    secret = true;
    return this;
  }

  /** Cannot be set together with the others, whatever the value. */
  SettingEntry<T> excludes(String why, String... others) {
    return rule(false, "", null, why, others);
  }

  /** As {@link #excludes(String, String...)}, for some values only. */
  SettingEntry<T> excludesWhere(String when, Predicate<T> applies, String why, String... others) {
    return rule(false, when, applies, why, others);
  }

  /** Can only be set together with the other. */
  SettingEntry<T> needs(String why, String other) {
    return rule(true, "", null, why, other);
  }

  /** As {@link #needs(String, String)}, for some values only. */
  SettingEntry<T> needsWhere(String when, Predicate<T> applies, String why, String other) {
    return rule(true, when, applies, why, other);
  }

  private SettingEntry<T> rule(
      boolean needs, String when, @Nullable Predicate<T> applies, String why, String... others) {
    rules.add(new Rule<>(needs, when, applies, why, List.of(others)));
    return this;
  }

  /** One line that says what the setting does. */
  SettingEntry<T> means(String line) {
    return means(line, "");
  }

  /** As {@link #means(String)}, with more sentences for the reference page. */
  SettingEntry<T> means(String line, String more) {
    meaning = line;
    details = more;
    return this;
  }

  // ---- What its readers ask --------------------------------------------------------------------

  /** The name without {@code llm.}, e.g. {@code maxTokens}. */
  String name() {
    return name;
  }

  /** The system property, e.g. {@code llm.maxTokens}. */
  String property() {
    return "llm." + name;
  }

  /** The environment variable, e.g. {@code LLM_MAX_TOKENS}. */
  String variable() {
    return new ProcessSetting(property()).variable();
  }

  Group group() {
    return group;
  }

  /** The accepted values, in a few words. */
  String shape() {
    return form.shape();
  }

  /** One line that says what the setting does. */
  String meaning() {
    return meaning;
  }

  /** Further sentences for the reference page; may be empty. */
  String details() {
    return details;
  }

  /** An example value, as a user would write it. */
  String example() {
    return example;
  }

  /** Whether the value must never be printed or recorded. */
  boolean isSecret() {
    return secret;
  }

  /** The default, for readers. */
  String defaultText() {
    return withoutEndpoint == null
        ? defaultText
        : defaultText + "; without endpoint " + withoutEndpoint;
  }

  /** Parses a value. */
  T parse(String text) {
    return form.parse(text);
  }

  T defaultValue(boolean endpoint) {
    if (!endpoint && withoutEndpoint != null) {
      return form.parse(withoutEndpoint);
    }
    return defaultIsParsed ? form.parse(defaultText) : defaultValue;
  }

  /** The rules that this entry itself states. */
  List<Rule<T>> rules() {
    return rules;
  }

  /** The settings that this one requires, with the values for which it does. */
  List<String> needs() {
    return rules.stream()
        .filter(Rule::needs)
        .flatMap(rule -> rule.others().stream().map(rule::to))
        .toList();
  }

  /** The settings that this one cannot be set together with, whichever entry states the rule. */
  List<String> excludes() {
    List<String> names = new ArrayList<>();
    for (SettingEntry<?> other : Setting.all()) {
      for (Rule<?> rule : other.rules()) {
        if (!rule.needs() && rule.others().contains(name)) {
          names.add(rule.ofSetting(other.name()));
        }
        if (!rule.needs() && other == this) {
          rule.others().forEach(excluded -> names.add(rule.to(excluded)));
        }
      }
    }
    return names;
  }
}
