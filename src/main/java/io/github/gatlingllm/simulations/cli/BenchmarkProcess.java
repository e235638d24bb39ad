package io.github.gatlingllm.simulations.cli;

import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.record.InjectorRun.InjectorEnd;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.storage.S3Location;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * The benchmark, or a simulation of the user, in its own JVM. A jar cannot set the options of
 * {@link JvmOptions#ofRunsHere}, and without them the load generator disturbs the measurement.
 */
record BenchmarkProcess(
    Map<String, String> settings,
    String results,
    List<String> jvm,
    String simulation,
    String classPath) {

  private static final String CONFIGURATION = "io/github/gatlingllm/simulations/cli/";

  /** The first Java version that prints a warning if a library loads native code. */
  private static final int ASKS_FOR_NATIVE_ACCESS = 24;

  /** Gatling's writer of simulation.log accesses private fields of strings. */
  private static final String OPEN_TO_GATLING = "--add-opens=java.base/java.lang=ALL-UNNAMED";

  private static final String RESULTS = "results";

  /**
   * A variable of the environment that is a setting, or that Kubernetes sets for a pod of a Job.
   */
  private static final Pattern SETTING = Pattern.compile("LLM_.*|JOB_COMPLETION_INDEX");

  private static final Pattern NEXT_WORD = Pattern.compile("-([a-z])");

  /** Runs it and returns Gatling's exit code: 0, 2 for missed assertions, 1 for other failures. */
  static int run(List<String> arguments) {
    try {
      BenchmarkProcess process = of(arguments);
      if (Boolean.parseBoolean(process.settings.get("help"))) {
        System.out.print(Benchmark.help());
        return 0;
      }
      return process.run();
    } catch (IllegalArgumentException | IOException e) {
      PrintableText.printError(String.valueOf(e.getMessage()));
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    }
  }

  /** Parses {@code --name value} and {@code --name=value}; the value is {@code true} by default. */
  static BenchmarkProcess of(List<String> arguments) {
    Map<String, String> settings = new LinkedHashMap<>();
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      int equals = argument.indexOf('=');
      if (!argument.startsWith("--") || argument.length() == 2 || equals == 2) {
        throw new IllegalArgumentException(
            argument + " is not a setting; expected --<setting> <value>, see --help");
      }
      boolean valueFollows =
          equals < 0 && i + 1 < arguments.size() && !arguments.get(i + 1).startsWith("--");
      String name = argument.substring(2, equals < 0 ? argument.length() : equals);
      String value =
          equals >= 0
              ? argument.substring(equals + 1)
              : valueFollows ? arguments.get(++i) : Boolean.toString(true);
      if (settings.put(camelCase(name), value) != null) {
        throw new IllegalArgumentException("--" + name + " is given twice");
      }
    }
    String results = settings.getOrDefault("results", RESULTS);
    String jvm = settings.getOrDefault("jvm", "").strip();
    String simulation = settings.getOrDefault("simulation", Benchmark.class.getName());
    String classPath = settings.getOrDefault("classPath", "");
    settings.keySet().removeAll(List.of("results", "jvm", "simulation", "classPath"));
    return new BenchmarkProcess(
        settings,
        results,
        jvm.isEmpty() ? List.of() : List.of(jvm.split("\\s+", -1)),
        simulation,
        classPath);
  }

  /**
   * The name in camel case, or what follows that of a class of traffic; another one with a dot,
   * such as {@code header.x-tenant}, is unchanged.
   */
  private static String camelCase(String name) {
    String[] ofClass = name.split("\\.", 3);
    if (ofClass.length == 3 && ofClass[0].equals("class")) {
      return ofClass[0] + "." + ofClass[1] + "." + camelCase(ofClass[2]);
    }
    return name.contains(".")
        ? name
        : NEXT_WORD.matcher(name).replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
  }

  /** Without the API key, because {@code ps} shows the command to all users. */
  List<String> command(Path classes) throws IOException {
    String all = System.getProperty("java.class.path");
    all += classPath.isEmpty() ? "" : File.pathSeparator + classPath;
    String className = simulation;
    if (isSourceFile(simulation)) {
      className = compile(Path.of(simulation), classes);
      all += File.pathSeparator + classes;
    }
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JvmOptions.ofRunsHere());
    command.add(OPEN_TO_GATLING);
    command.add("-Dfile.encoding=" + System.getProperty("file.encoding")); // that of this JVM
    if (Runtime.version().feature() >= ASKS_FOR_NATIVE_ACCESS) {
      command.add(
          "--enable-native-access=ALL-UNNAMED"); // otherwise Netty causes four lines of warnings
    }
    command.add("-Dlogback.configurationFile=" + CONFIGURATION + "logback.xml");
    command.add("-Dgatling.conf.file=" + CONFIGURATION + "gatling.conf");
    if (!Files.isWritable(Path.of(System.getProperty("user.home")))) {
      // Otherwise java.util.prefs, which Gatling's version check uses, warns several times, and
      // states that it created this directory.
      Files.createDirectories(classes.resolve(".java/.userPrefs"));
      command.add("-Djava.util.prefs.userRoot=" + classes);
    }
    String own = System.getProperty("java.class.path");
    String called = System.getProperty(StartCommand.COMMAND);
    if (called != null) {
      command.add("-D" + StartCommand.PROPERTY + "=" + start(List.of(called)));
    } else if (own.endsWith(".jar") && !own.contains(File.pathSeparator)) { // else by a program
      command.add("-D" + StartCommand.PROPERTY + "=" + start(List.of("java", "-jar", own)));
    }
    command.addAll(jvm);
    settings.forEach(
        (name, value) -> {
          if (!name.equals("apiKey")) {
            command.add("-Dllm." + name + "=" + value);
          }
        });
    command.addAll(List.of("-cp", all));
    boolean isBenchmark = className.equals(Benchmark.class.getName());
    command.add(isBenchmark ? className : "io.gatling.app.Gatling");
    command.addAll(List.of("-s", className, "-rf", results));
    return command;
  }

  /** What was typed, but for the settings of the run. */
  private String start(List<String> called) {
    List<String> words = new ArrayList<>(called);
    if (!classPath.isEmpty()) {
      words.addAll(List.of("--class-path", classPath));
    }
    if (!simulation.equals(Benchmark.class.getName())) {
      words.addAll(List.of("--simulation", simulation));
    }
    if (!results.equals(RESULTS)) {
      words.addAll(List.of("--results", results));
    }
    if (!jvm.isEmpty()) {
      words.addAll(List.of("--jvm", String.join(" ", jvm)));
    }
    return words.stream().map(StartCommand::quoted).collect(Collectors.joining(" "));
  }

  /** Else Gatling prints a stack trace. Wildcards of a class path are resolved by the JVM. */
  private void requireSimulation() throws IOException {
    if (isSourceFile(simulation) || classPath.contains("*")) {
      return;
    }
    List<URL> places = new ArrayList<>();
    for (String place : classPath.split(File.pathSeparator, -1)) {
      places.add(Path.of(place).toUri().toURL());
    }
    ClassLoader own = BenchmarkProcess.class.getClassLoader();
    try (URLClassLoader all = new URLClassLoader(places.toArray(URL[]::new), own)) {
      if (all.getResource(simulation.replace('.', '/') + ".class") == null) {
        throw new IllegalArgumentException(
            "--simulation "
                + simulation
                + ": class not found; expected its full name, and its place in --class-path,"
                + " or a .java file");
      }
    }
  }

  private int run() throws IOException, InterruptedException {
    Path classes = Files.createTempDirectory("simulation");
    try {
      requireSimulation();
      ClassCache cache = ClassCache.of(System.getProperty("java.class.path"));
      List<String> command = command(classes);
      command.addAll(1, cache.use());
      int code = run(process(command).inheritIO());
      if (code == 0 && !settings.containsKey("dryRun") && share() == null) {
        cache.makeIfMissing();
      }
      return code;
    } catch (IllegalArgumentException | IOException e) {
      noteEnd(1, new AtomicBoolean());
      throw e;
    } finally {
      RunFiles.delete(classes);
    }
  }

  /** The process, which has the API key in its environment. */
  ProcessBuilder process(List<String> command) {
    ProcessBuilder builder = new ProcessBuilder(command);
    String key = settings.get("apiKey");
    if (key != null) {
      builder.environment().put("LLM_API_KEY", key);
    }
    return builder;
  }

  private int run(ProcessBuilder builder) throws IOException, InterruptedException {
    Process gatling = builder.start();
    AtomicBoolean isNoted = new AtomicBoolean();
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  gatling.destroy(); // in an orderly way, with its report
                  noteEnd(gatling.onExit().join().exitValue(), isNoted);
                },
                "stop-benchmark"));
    int code = gatling.waitFor();
    noteEnd(code, isNoted);
    return code;
  }

  /** Notes that this injector has ended, for who waits for its run, which may not be there. */
  private void noteEnd(int exitCode, AtomicBoolean isNoted) {
    if (exitCode == 0 || isNoted.getAndSet(true)) {
      return;
    }
    try {
      InjectorShare share = share();
      if (share != null) {
        noteEnd(new InjectorEnd(share, exitCode));
      }
    } catch (IllegalArgumentException e) {
      // No share, or no place: the load generator has printed it.
    }
  }

  /** Which injector of several it is; null if it is the only one. */
  private @Nullable InjectorShare share() {
    if (!canBePart()) {
      return null;
    }
    String of = text("injector");
    return of == null ? Injector.ofProcess().share() : InjectorShare.parse(of);
  }

  /** Whether options, files or environment can state that it is one injector of several. */
  private boolean canBePart() {
    return Stream.of("injector", "config", "env").anyMatch(settings::containsKey)
        || System.getenv().keySet().stream().anyMatch(BenchmarkProcess::isSetting)
        || Files.exists(Path.of(".env"));
  }

  static boolean isSetting(String variable) {
    return SETTING.matcher(variable).matches();
  }

  private void noteEnd(InjectorEnd end) {
    Path file;
    try {
      file = end.write(Path.of(results));
    } catch (IOException e) {
      return; // the load generator has printed that the folder cannot be written
    }
    String to = text("upload");
    try {
      if (to != null) {
        S3Location.parse(to).upload(end.folder() + "/" + InjectorEnd.FILE, file);
      }
    } catch (IOException e) {
      PrintableText.printError(
          "LLM: the end of this injector is not in the bucket, so a merge waits for it: "
              + RunFiles.message(e));
    }
  }

  /** A setting of the process that was started, which may have it of a file. */
  private @Nullable String text(String name) {
    String typed = settings.get(name);
    return typed == null ? Benchmark.setting(name, settings) : typed;
  }

  private static final String ENDING = ".java";

  static boolean isSourceFile(String simulation) {
    return simulation.endsWith(ENDING);
  }

  static String compile(Path source, Path folder) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new IllegalArgumentException(
          "--simulation " + source + ": this JVM has no compiler; use a JDK, or give a class");
    }
    if (!Files.isReadable(source)) {
      throw new IllegalArgumentException("--simulation " + source + ": file not found");
    }
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    int failure =
        compiler.run(
            null,
            messages,
            messages,
            "-d",
            folder.toString(),
            "-cp",
            System.getProperty("java.class.path"),
            "-sourcepath",
            Objects.requireNonNull(source.toAbsolutePath().getParent()).toString(),
            "-proc:none",
            "-nowarn",
            "-encoding",
            "UTF-8",
            source.toString());
    if (failure != 0) {
      throw new IllegalArgumentException(messages.toString(Charset.defaultCharset()).strip());
    }
    return className(source, folder);
  }

  private static String className(Path source, Path folder) throws IOException {
    String file = source.getFileName().toString().replace(ENDING, ".class");
    try (Stream<Path> classes = Files.walk(folder)) {
      return classes
          .filter(compiled -> compiled.endsWith(file))
          .map(compiled -> folder.relativize(compiled).toString())
          .map(path -> path.substring(0, path.length() - ".class".length()))
          .map(path -> path.replace(File.separatorChar, '.'))
          .findFirst()
          .orElseThrow(
              () ->
                  new IllegalArgumentException(
                      "--simulation " + source + " has no class of the file's name"));
    }
  }
}
