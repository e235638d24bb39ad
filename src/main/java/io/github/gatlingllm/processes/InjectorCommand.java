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
 * The command of an injector's process: the same Java, JVM options, class path and system
 * properties as this process, and Gatling's main class with the same simulation.
 *
 * @param jvmOptions options of this JVM, {@code -D} included
 * @param properties all system properties of this process, also those that a program has set
 * @param processors number of processors for one injector
 */
record InjectorCommand(
    List<String> jvmOptions,
    Map<String, String> properties,
    String classPath,
    String simulation,
    int processors) {

  /** Passed on in the environment: {@code ps} shows command lines to all users. */
  private static final String API_KEY = "llm.apiKey";

  private static final String PROCESSORS = "-XX:ActiveProcessorCount=";

  /** Options of a debugger or of remote JMX: two processes cannot listen on one port. */
  private static final Pattern LISTENING =
      Pattern.compile(
          "-agentlib:jdwp.*|-Xrunjdwp.*|-Dcom\\.sun\\.management\\.jmxremote.*", Pattern.DOTALL);

  /** System properties that the JVM sets by itself, and the API key. */
  private static final Pattern NOT_PASSED_ON =
      Pattern.compile(
          "(java|javax|jdk|sun|os|user|file|path|line|native|stdout|stderr|stdin|awt|com\\.sun)\\..*"
              + "|"
              + Pattern.quote(API_KEY));

  /**
   * The command by which this process starts others.
   *
   * @param count number of processes that share the processors
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
   * The program and its arguments.
   *
   * @param results folder for the folder of the injector's run
   * @param own system properties of injectors only
   */
  List<String> words(InjectorShare share, Path results, Map<String, String> own) {
    Map<String, String> set = new LinkedHashMap<>();
    properties.forEach(
        (name, value) -> {
          if (!NOT_PASSED_ON.matcher(name).matches()) {
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
    if (LISTENING.matcher(option).matches()) {
      return false;
    }
    if (!option.startsWith("-D")) {
      return true;
    }
    String name = option.substring(2).replaceFirst("(?s)=.*", "");
    return !set.containsKey(name) && !name.equals(API_KEY);
  }

  /** Adapts a copy of this process's environment for an injector. */
  void prepare(Map<String, String> environment) {
    String key = properties.get(API_KEY);
    if (key != null) {
      environment.put("LLM_API_KEY", key);
    }
    environment.remove("GITHUB_STEP_SUMMARY"); // for the joined run only
  }
}
