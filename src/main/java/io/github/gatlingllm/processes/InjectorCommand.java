package io.github.gatlingllm.processes;

import io.github.gatlingllm.record.InjectorShare;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * How this process is started again for a share of the load: the same Java with the same options,
 * class path and system properties, and Gatling's main class with the same simulation.
 *
 * @param jvmOptions as this JVM was given them, system properties included
 * @param properties those that were set since, by whatever started Gatling
 * @param processors that one such process shall use
 */
record InjectorCommand(
    List<String> jvmOptions,
    Map<String, String> properties,
    String classPath,
    String simulation,
    int processors) {

  /** What {@code ps} shows to all is no place for a key: it goes by the environment. */
  private static final String API_KEY = "llm.apiKey";

  private static final String PROCESSORS = "-XX:ActiveProcessorCount=";

  /** Two processes cannot listen on one port for a debugger. */
  private static final Pattern FOR_ONE_PROCESS = Pattern.compile("-agentlib:jdwp.*|-Xrunjdwp.*");

  /** Set by the JVM itself, or for one process. */
  private static final Pattern OF_THE_JVM =
      Pattern.compile(
          "(java|javax|jdk|sun|os|user|file|path|line|native|stdout|stderr|stdin|awt|com\\.sun)\\..*"
              + "|"
              + Pattern.quote(API_KEY));

  /**
   * That of this process.
   *
   * @param count of the processes that share its processors
   */
  static InjectorCommand ofProcess(String simulation, int count) {
    Map<String, String> properties = new TreeMap<>();
    System.getProperties()
        .stringPropertyNames()
        .forEach(name -> properties.put(name, System.getProperty(name)));
    return new InjectorCommand(
        ManagementFactory.getRuntimeMXBean().getInputArguments(),
        properties,
        System.getProperty("java.class.path"),
        simulation,
        Math.max(1, Runtime.getRuntime().availableProcessors() / count));
  }

  /**
   * The words of the command.
   *
   * @param own system properties of that process alone
   * @param results folder in which it makes its run's folder
   */
  List<String> words(InjectorShare share, Path results, Map<String, String> own) {
    Map<String, String> set = new LinkedHashMap<>();
    properties.forEach(
        (name, value) -> {
          if (!OF_THE_JVM.matcher(name).matches()) {
            set.put(name, value);
          }
        });
    set.putAll(own);
    set.put("llm.injector", share.toString());
    set.put(LocalInjectors.PROPERTY, "1");
    set.put(ParentProcess.PROPERTY, "true");
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    jvmOptions.stream().filter(option -> isKept(option, set)).forEach(words::add);
    if (jvmOptions.stream().noneMatch(option -> option.startsWith(PROCESSORS))) {
      words.add(PROCESSORS + processors);
    }
    set.forEach((name, value) -> words.add("-D" + name + "=" + value));
    return Stream.concat(
            words.stream(),
            Stream.of(
                "-cp",
                classPath,
                "io.gatling.app.Gatling",
                "-s",
                simulation,
                "-rf",
                results.toString(),
                "-nr"))
        .toList();
  }

  private static boolean isKept(String option, Map<String, String> set) {
    if (!option.startsWith("-D")) {
      return !FOR_ONE_PROCESS.matcher(option).matches();
    }
    String name = option.substring(2).replaceFirst("(?s)=.*", "");
    return !set.containsKey(name) && !name.equals(API_KEY);
  }

  /** What the process finds in its environment besides, and what not. */
  void prepare(Map<String, String> environment) {
    String key = properties.get(API_KEY);
    if (key != null) {
      environment.put("LLM_API_KEY", key);
    }
    environment.remove("GITHUB_STEP_SUMMARY"); // is for the joined run
  }
}
