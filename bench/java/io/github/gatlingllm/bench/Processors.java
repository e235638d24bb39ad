package io.github.gatlingllm.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The processors of server and client.
 *
 * @param server argument of {@code taskset -c}; empty: any
 * @param client argument of {@code taskset -c}; empty: any
 */
record Processors(String server, String client) {

  List<String> onServer(List<String> command) {
    return on(server, command);
  }

  List<String> onClient(List<String> command) {
    return on(client, command);
  }

  private static List<String> on(String processors, List<String> command) {
    if (processors.isEmpty()) {
      return command;
    }
    List<String> pinned = new ArrayList<>(List.of("taskset", "-c", processors));
    pinned.addAll(command);
    return pinned;
  }

  /** Removes this process from the processor of the client. */
  void pinThisProcess() throws IOException, InterruptedException {
    if (!server.isEmpty()) {
      Process taskset =
          new ProcessBuilder(
                  "taskset",
                  "-a",
                  "-p",
                  "-c",
                  server,
                  String.valueOf(ProcessHandle.current().pid()))
              .redirectErrorStream(true)
              .start();
      var unused = taskset.getInputStream().readAllBytes();
      if (taskset.waitFor() != 0) {
        throw new IOException("taskset failed");
      }
    }
  }

  /** Description of the machine, without its name or paths. */
  static String machine() throws IOException {
    Path file = Path.of("/proc/cpuinfo");
    List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
    String model =
        lines.stream()
            .filter(line -> line.startsWith("model name"))
            .map(line -> line.substring(line.indexOf(':') + 1).strip())
            .findFirst()
            .orElse("");
    // Of the machine, not those that this process has left itself.
    long processors = lines.stream().filter(line -> line.startsWith("processor")).count();
    return String.join(
        ", ",
        (processors > 0 ? processors : Runtime.getRuntime().availableProcessors()) + " processors",
        model.isEmpty() ? System.getProperty("os.arch") : model,
        System.getProperty("os.name"),
        System.getProperty("java.vm.name") + " " + Runtime.version().feature() + ".");
  }
}
