package io.github.gatlingllm.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.app.Gatling$;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/**
 * Runs of Gatling one after the other in one JVM, which starts once for all. They share their
 * output, and their reports are made when the JVM ends.
 */
public final class OneJvm {

  private static final String SETTINGS = "settings.properties";
  private static final String SIMULATION = "simulation";

  private OneJvm() {}

  /** The runs, once all have ended without an error. */
  public static List<GatlingRun> of(List<GatlingRun.Setup> setups)
      throws IOException, InterruptedException {
    List<Path> results = new ArrayList<>();
    for (GatlingRun.Setup setup : setups) {
      Properties settings = new Properties();
      settings.putAll(setup.properties);
      settings.put(SIMULATION, setup.simulation.getName());
      Path folder = GatlingRun.resultsOf(setup.simulation);
      try (Writer out = Files.newBufferedWriter(folder.resolve(SETTINGS))) {
        settings.store(out, null);
      }
      results.add(folder);
    }
    List<String> command = setups.get(0).java(results.get(0), GatlingRun.fastStart());
    command.add(OneJvm.class.getName());
    results.forEach(folder -> command.add(folder.toString()));
    Path output = results.get(0).resolve("output.txt");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    GatlingRun.removeForeign(builder.environment());
    try (GatlingRun first = new GatlingRun(results.get(0), output, builder.start())) {
      assertThat(first.await().exitCode()).as(first.output()).isZero();
      return results.stream()
          .map(folder -> new GatlingRun(folder, output, first.process()))
          .toList();
    }
  }

  /** The arguments are the folders of the runs. */
  public static void main(String[] arguments) throws IOException {
    for (String folder : arguments) {
      Properties settings = new Properties();
      try (Reader in = Files.newBufferedReader(Path.of(folder, SETTINGS), UTF_8)) {
        settings.load(in);
      }
      System.getProperties().putAll(settings);
      String simulation = settings.getProperty(SIMULATION);
      var unused = Gatling$.MODULE$.fromArgs(new String[] {"-s", simulation, "-rf", folder, "-nr"});
      settings.keySet().forEach(System.getProperties()::remove);
    }
  }
}
