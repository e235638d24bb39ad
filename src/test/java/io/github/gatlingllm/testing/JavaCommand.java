package io.github.gatlingllm.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Commands that start programs in separate JVMs, with the class path of this one. */
public final class JavaCommand {

  /** The Java executable of this JVM. */
  public static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();

  private JavaCommand() {}

  /** Class path of the tests, wherever Surefire put it. */
  public static String classPath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }

  /** Command that starts a main class with these JVM options. */
  public static List<String> of(List<String> options, Class<?> main, Object... arguments) {
    List<String> command = new ArrayList<>(List.of(JAVA));
    command.addAll(options);
    command.addAll(List.of("-cp", classPath(), main.getName()));
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    return command;
  }
}
