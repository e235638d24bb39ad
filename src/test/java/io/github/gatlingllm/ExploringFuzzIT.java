package io.github.gatlingllm;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.Jazzer;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Searches for new failing inputs, guided by code coverage and starting from the kept ones: a fixed
 * number for all methods together, the same ones each time. CONTRIBUTING.md states how to fuzz for
 * longer.
 */
class ExploringFuzzIT {

  private static final int INPUTS = 3_000;

  /** Disables Jazzer's own detectors, slow to start: assertions detect failures. */
  private static final String DETECTORS =
      ("ClojureLangHooks Deserialization ExpressionLanguageInjection FilePathTraversal"
              + " LdapInjection NamingContextLookup OsCommandInjection ReflectiveCall RegexInjection"
              + " RegexRoadblocks ScriptEngineInjection ServerSideRequestForgery SqlInjection"
              + " UnsafeSanitizer XPathInjection")
          .replaceAll(
              "(\\w+) ?", "com.code_intelligence.jazzer.sanitizers.$1" + File.pathSeparator);

  @TempDir Path folder;

  @Test
  void newInputsPass() throws Exception {
    Path inputs = Files.createDirectory(folder.resolve("inputs"));
    assertThat(ExploredMethods.writeKept(inputs)).as("kept").isPositive();

    assertThat(explore(inputs))
        .as("code that no kept input reaches was found, and nothing stopped it")
        .containsPattern("NEW +cov: ")
        .contains("Done " + INPUTS + " runs")
        .doesNotContain("== Java Exception");
  }

  private String explore(Path inputs) throws IOException, InterruptedException {
    List<String> command =
        JavaCommand.of(
            List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            Jazzer.class,
            "--target_class=" + ExploredMethods.class.getName(),
            "--instrumentation_includes=io.github.gatlingllm.**",
            "--disabled_hooks=" + DETECTORS,
            "--reproducer_path=" + folder,
            "-artifact_prefix=" + folder + "/",
            "-seed=1",
            "-runs=" + INPUTS,
            inputs.toString());
    return JavaCommand.run(new ProcessBuilder(command)).output();
  }
}
