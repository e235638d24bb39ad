package io.github.gatlingllm.simulations;

import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.record.StartCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** An entry of the catalogue {@link Setting}: one setting of the benchmark. */
final class SettingEntry<T extends @Nullable Object> {
  private static final String HELP = "  %-20s %-19s ";
  private static final String INDENT = String.format(Locale.ROOT, HELP, "", "");

  /** The words that fit into 120 columns. */
  private static final Pattern HELP_LINE = Pattern.compile("(.{1,77})(?: |$)");

  /** What may be a setting in a sentence. */
  private static final Pattern NAME = Pattern.compile("\\b[a-z]+[A-Z]\\w*");

  /** The title of the group that begins with this setting. */
  @Nullable String heading;

  /** Without {@code llm.}, e.g. {@code maxTokens}. */
  final String name;

  final Form<T> form;
  final String example;
  final List<Rule<T>> rules = new ArrayList<>();
  private String defaultText = "none";
  private Supplier<@Nullable T> defaultValue = () -> null;
  private @Nullable String withoutEndpoint;

  /** Whether the value must never be printed or recorded. */
  boolean secret;

  String meaning = "";

  /** Settings that this one requires or excludes, for values that {@code when} names. */
  record Rule<T extends @Nullable Object>(
      boolean needs, String when, Predicate<T> applies, String why, List<String> others) {

    private String of(String setting) {
      return when.isEmpty() ? setting : setting + " (" + when + ")";
    }

    private String to(String other) {
      return when.isEmpty() ? other : other + " (when " + when + ")";
    }
  }

  SettingEntry(String name, Form<T> form, String example) {
    this.name = name;
    this.form = form;
    this.example = example;
  }

  SettingEntry<T> heads(String title) {
    heading = title;
    return this;
  }

  /** The default, as a user would write it. */
  SettingEntry<T> byDefault(String text) {
    defaultText = text;
    defaultValue = () -> parse(text);
    return this;
  }

  /** The default when the target is the embedded engine, as a user would write it. */
  SettingEntry<T> withoutEndpoint(String text) {
    withoutEndpoint = text;
    return this;
  }

  /** A default that no text stands for, and its description for readers. */
  SettingEntry<T> unset(String words, T value) {
    defaultText = words;
    defaultValue = () -> value;
    return this;
  }

  /** The default is null; the words describe for readers what that means. */
  @SuppressWarnings("unchecked") // the same object, of a type that says that it may be null
  SettingEntry<@Nullable T> orNull(String words) {
    defaultText = words;
    return (SettingEntry<@Nullable T>) this;
  }

  SettingEntry<T> secret() {
    secret = true;
    return this;
  }

  /** Cannot be set together with the others, a comma list. */
  SettingEntry<T> excludes(String why, String others) {
    return excludesWhere("", any -> true, why, others);
  }

  SettingEntry<T> excludesWhere(String when, Predicate<T> applies, String why, String others) {
    rules.add(new Rule<>(false, when, applies, why, List.of(others.split(", "))));
    return this;
  }

  SettingEntry<T> needs(String why, String other) {
    return needsWhere("", any -> true, why, other);
  }

  SettingEntry<T> needsWhere(String when, Predicate<T> applies, String why, String other) {
    rules.add(new Rule<>(true, when, applies, why, List.of(other)));
    return this;
  }

  SettingEntry<T> means(String line) {
    meaning = line;
    return this;
  }

  String property() {
    return "llm." + name;
  }

  ProcessSetting ofProcess() {
    return new ProcessSetting(property());
  }

  String variable() {
    return ofProcess().variable();
  }

  String defaultText() {
    return withoutEndpoint == null
        ? defaultText
        : defaultText + "; without endpoint " + withoutEndpoint;
  }

  T defaultValue(boolean endpoint) {
    return !endpoint && withoutEndpoint != null ? parse(withoutEndpoint) : defaultValue.get();
  }

  T parse(String text) {
    try {
      return form.parser().apply(text);
    } catch (IllegalArgumentException e) {
      if (e.getMessage() != null && !(e instanceof NumberFormatException)) {
        throw e;
      }
      String expected =
          form.expected() == null ? form.shape() + ", e.g. " + example : form.expected();
      throw new IllegalArgumentException("expected " + expected, e);
    }
  }

  /** A name as it is typed: {@code maxTokens}; {@code max-tokens} where it is an option. */
  private static String typed(String name, boolean asOption) {
    return asOption ? StartCommand.kebab(name) : name;
  }

  private static String withOptions(String text) {
    return NAME.matcher(text)
        .replaceAll(
            word ->
                Setting.all().stream().anyMatch(each -> each.name.equals(word.group()))
                    ? "--" + typed(word.group(), true)
                    : word.group());
  }

  /** Its lines of the help, with its name as a property or as an option. */
  String help(boolean asOption) {
    String line =
        String.format(
            Locale.ROOT, HELP, (asOption ? "--" : "") + typed(name, asOption), form.shape());
    boolean isLong = line.length() > INDENT.length(); // a long form has a line of its own
    UnaryOperator<String> typed = other -> typed(other, asOption);
    String needs = needs().stream().map(typed).collect(Collectors.joining(", "));
    String excludes = excludes().stream().map(typed).collect(Collectors.joining(", "));
    String description =
        "%s [%s]".formatted(asOption ? withOptions(meaning) : meaning, defaultText())
            + (needs.isEmpty() ? "" : "; needs " + needs)
            + (excludes.isEmpty() ? "" : "; not with " + excludes);
    return (isLong ? line.stripTrailing() + '\n' + INDENT : line)
        + HELP_LINE.matcher(description).replaceAll("$1\n" + INDENT).strip()
        + '\n';
  }

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
      for (Rule<?> rule : other.rules) {
        if (!rule.needs() && rule.others().contains(name)) {
          names.add(rule.of(other.name));
        }
        if (!rule.needs() && other == this) {
          rule.others().forEach(excluded -> names.add(rule.to(excluded)));
        }
      }
    }
    return names;
  }
}
