package io.github.gatlingllm.simulations;

import io.github.gatlingllm.simulations.Setting.Group;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Makes an entry of the catalogue. What holds where the setting is absent is said first, what it
 * means last.
 */
final class SettingBuilder<T extends @Nullable Object> {

  final Group group;
  final String name;
  final Form<T> form;
  final List<Rule<T>> rules = new ArrayList<>();

  String absent = "none";
  String example = "";
  @Nullable String withoutEndpoint;
  boolean secret;

  private @Nullable T unset;
  private boolean parsed;

  /**
   * What contradicts a setting, or what it has no meaning without.
   *
   * @param needs whether it needs the others; else it excludes them
   * @param when the values that it is true of, in words; empty for all
   * @param applies whether it is true of a value; null for all values
   * @param why in a message, after the other's name, or before it
   * @param others names of the other settings
   */
  record Rule<T extends @Nullable Object>(
      boolean needs, String when, @Nullable Predicate<T> applies, String why, List<String> others) {

    /** The other's name, and the values that the rule is true of. */
    String named(String other) {
      return when.isEmpty() ? other : other + " (" + when + ")";
    }
  }

  SettingBuilder(Group group, String name, Form<T> form) {
    this.group = group;
    this.name = name;
    this.form = form;
  }

  /** The default, as a user would write it. */
  SettingBuilder<T> byDefault(String text) {
    absent = text;
    parsed = true;
    return this;
  }

  /** A value to show, as a user would write it. */
  SettingBuilder<T> example(String text) {
    example = text;
    return this;
  }

  /** Another default for the embedded engine. */
  SettingBuilder<T> withoutEndpoint(String text) {
    withoutEndpoint = text;
    return this;
  }

  /** The default, in words and as a value. */
  SettingBuilder<T> unset(String words, T value) {
    absent = words;
    unset = value;
    return this;
  }

  /** No default but null, and what that is to people. */
  @SuppressWarnings("unchecked") // the same object, of a type that says that it may be null
  SettingBuilder<@Nullable T> orNull(String words) {
    absent = words;
    return (SettingBuilder<@Nullable T>) this;
  }

  /** Its value is shown nowhere. */
  SettingBuilder<T> secret() {
    secret = true;
    return this;
  }

  /** It cannot be set together with the others, whatever it says. */
  SettingBuilder<T> excludes(String why, String... others) {
    return rule(false, "", null, why, others);
  }

  /** As {@link #excludes}, of some values only. */
  SettingBuilder<T> excludesWhere(String when, Predicate<T> applies, String why, String... others) {
    return rule(false, when, applies, why, others);
  }

  /** It has no meaning without the other. */
  SettingBuilder<T> needs(String why, String other) {
    return rule(true, "", null, why, other);
  }

  /** As {@link #needs}, of some values only. */
  SettingBuilder<T> needsWhere(String when, Predicate<T> applies, String why, String other) {
    return rule(true, when, applies, why, other);
  }

  private SettingBuilder<T> rule(
      boolean needs, String when, @Nullable Predicate<T> applies, String why, String... others) {
    rules.add(new Rule<>(needs, when, applies, why, List.of(others)));
    return this;
  }

  /** Enters it into the catalogue with a line that says what it does. */
  Setting<T> means(String line) {
    return means(line, "");
  }

  /** As {@link #means(String)}, with more that the reference says. */
  Setting<T> means(String line, String details) {
    return new Setting<>(this, line, details);
  }

  T absentValue(boolean endpoint) {
    if (!endpoint && withoutEndpoint != null) {
      return form.parse(withoutEndpoint);
    }
    return parsed ? form.parse(absent) : unset;
  }
}
