package io.github.gatlingllm.record;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The command that started a run, as a POSIX shell reads it: by Maven, Gradle or the runnable jar,
 * with the settings of the run last. Advice for the next run is that command with a setting.
 *
 * @param text null where a program or another tool started the run
 */
public record StartCommand(@Nullable String text) {

  /** Its name in {@link RunInfo#config}. */
  public static final String CONFIG_NAME = "start command";

  /** How the command was called, where that was not {@code java -jar}. */
  public static final String COMMAND = "gatlingllm.command";

  /** Where the runnable jar tells the JVM of the run how it was started. */
  public static final String PROPERTY = "gatlingllm.start";

  /**
   * The file that the command {@code probe} writes the facts of the server to, in place of load.
   */
  public static final String PROBE = "gatlingllm.probe";

  /** In the name of the jar that Gatling's Maven plugin starts. */
  private static final String MAVEN = "gatlingbooter";

  /** Of these tools settings are properties, and otherwise options. */
  private static final Pattern BUILD_TOOL =
      Pattern.compile("(\\./)?(mvnw?|gradlew?) .*", Pattern.DOTALL);

  /** A setting as {@link #setting} writes it. */
  private static final Pattern SETTING =
      Pattern.compile(
          " (?:-Dllm\\.|--(?!simulation |results |jvm |class-path )(?=[a-z]))[\\w.-]+[="
              + " ]('(?:[^']|'\\\\'')*'|\\S+)");

  private static final Pattern PROPERTY_OPTION = Pattern.compile("-D([^=\\s]+)(?:=(.*))?");
  private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./-]+");
  private static final Pattern CAPITAL = Pattern.compile("[A-Z]");

  /** A setting in a line, but neither a host nor a method. */
  private static final Pattern NAMED =
      Pattern.compile(
          "(?<![\\w./@'])(?:-D)?llm\\.([a-z]\\w*+(?:\\.[A-Z]\\w*+)?)(?![\\w(/-]|\\.\\w|:\\d)");

  /** Whether this process is that of the command {@code probe}, which ends before the load. */
  public static boolean isProbe() {
    return System.getProperty(PROBE) != null;
  }

  /** That of a run, from its {@link RunInfo#config}. */
  public static StartCommand of(Map<String, String> config) {
    return new StartCommand(config.get(CONFIG_NAME));
  }

  /**
   * That of this process.
   *
   * @param isLeftOut whether a property is secret, by its name or its value, or of this run only
   */
  public static StartCommand ofProcess(String simulation, BiPredicate<String, String> isLeftOut) {
    Map<String, String> properties = new TreeMap<>();
    System.getProperties()
        .stringPropertyNames()
        .forEach(name -> properties.put(name, System.getProperty(name)));
    return of(simulation, properties, System.getenv(), Files.exists(Path.of("gradlew")), isLeftOut);
  }

  static StartCommand of(
      String simulation,
      Map<String, String> properties,
      Map<String, String> environment,
      boolean hasGradleWrapper,
      BiPredicate<String, String> isLeftOut) {
    Map<String, String> shown = new TreeMap<>(properties);
    shown.entrySet().removeIf(each -> isLeftOut.test(each.getKey(), each.getValue()));
    String classPath = properties.getOrDefault("java.class.path", "");
    String jar = properties.get(PROPERTY);
    String base =
        jar != null
            ? jar
            : classPath.contains(MAVEN)
                ? maven(simulation, properties, shown, environment)
                : classPath.matches("(?s).*/build/classes/[^/]+/gatling\\b.*")
                    ? (hasGradleWrapper ? "./gradlew" : "gradle")
                        + " gatlingRun --simulation "
                        + simulation
                    : null;
    if (base == null) {
      return new StartCommand(null);
    }
    StringBuilder text = new StringBuilder(base);
    shown.forEach(
        (property, value) -> {
          String name = property.startsWith("llm.") ? property.substring(4) : "header.";
          if (!name.startsWith("header.")) {
            text.append(setting(base, name, value));
          }
        });
    return new StartCommand(text.toString());
  }

  /** The goals, options and properties that were typed, as far as Maven passes them on. */
  private static String maven(
      String simulation,
      Map<String, String> properties,
      Map<String, String> shown,
      Map<String, String> environment) {
    String typed = environment.getOrDefault("MAVEN_CMD_LINE_ARGS", "").strip();
    List<String> words = List.of((typed.isEmpty() ? "gatling:test" : typed).split("\\s+", -1));
    List<String> typedAgain = new ArrayList<>();
    for (int i = 0; i < words.size(); i++) {
      Matcher option = PROPERTY_OPTION.matcher(words.get(i));
      if (!option.matches()) {
        typedAgain.add(quoted(words.get(i)));
        continue;
      }
      String name = option.group(1);
      String value = properties.get(name);
      if (value != null) {
        i += value.strip().split("\\s+", -1).length - 1; // the quotes around it are lost
      }
      if (!name.startsWith("llm.") && !name.equals("gatling.simulationClass")) {
        String given = value == null ? option.group(2) : shown.get(name);
        if (value == null || given != null) {
          typedAgain.add("-D" + name + (given == null ? "" : "=" + quoted(given)));
        }
      }
    }
    boolean isWrapper = properties.getOrDefault("maven.home", "").contains("wrapper");
    return (isWrapper ? "./mvnw " : "mvn ")
        + String.join(" ", typedAgain)
        + " -Dgatling.simulationClass="
        + simulation;
  }

  /** The run again, with that setting in place of its setting. */
  public String with(String name, String value) {
    if (text == null) {
      return "this run's command with -Dllm." + name + "=" + quoted(value);
    }
    String own = setting(text, name, "");
    String rest =
        SETTING
            .matcher(text)
            .replaceAll(
                found ->
                    found.group().startsWith(own.substring(0, own.length() - 2))
                        ? ""
                        : Matcher.quoteReplacement(found.group()));
    return rest + setting(text, name, value);
  }

  /** The same simulation with that setting as its only one. */
  public String alone(String name, String value) {
    return text == null
        ? with(name, value)
        : SETTING.matcher(text).replaceAll("") + setting(text, name, value);
  }

  /** A command for recorded runs, such as {@code render <folder>}. */
  public String forRecords(String command) {
    return text == null || BUILD_TOOL.matcher(text).matches()
        ? command + " (docs/commands.md)"
        : text.split(" --", 2)[0] + " " + command;
  }

  /** A line for who started this process: {@code llm.maxTokens} is an option of the jar. */
  public static String typed(String line) {
    return typed(line, System.getProperty(PROPERTY) != null);
  }

  static String typed(String line, boolean isJar) {
    return isJar ? NAMED.matcher(line).replaceAll(name -> "--" + kebab(name.group(1))) : line;
  }

  /** A setting's name as an option of the jar: {@code max-tokens}; one with a dot is unchanged. */
  public static String kebab(String name) {
    return name.contains(".")
        ? name
        : CAPITAL.matcher(name).replaceAll(c -> "-" + c.group().toLowerCase(Locale.ROOT));
  }

  private static String setting(String base, String name, String value) {
    boolean isProperty = BUILD_TOOL.matcher(base).matches();
    return (isProperty ? " -Dllm." + name + "=" : " --" + kebab(name) + " ") + quoted(value);
  }

  /** A word for a POSIX shell. */
  public static String quoted(String word) {
    return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
  }

  /** The option that names another folder for results. */
  public static String resultsOption() {
    return System.getProperty(PROPERTY) != null
        ? "--results"
        : System.getProperty("java.class.path").contains(MAVEN) ? "-Dgatling.resultsFolder" : "-rf";
  }
}
