package io.github.gatlingllm.simulations.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.simulations.CheckedSettings;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The recipe of {@code docs/injectors.md} in bash: folders are hosts, Java is a script. */
class SshRecipeTest {

  @TempDir Path folder;

  private void program(String name, String script) throws IOException {
    Path file = Files.writeString(folder.resolve(name), "#!/bin/bash\n" + script);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private List<List<String>> calls() throws Exception {
    program("ssh", "cd \"$ROOT\"; mkdir -p hosts/$1; cd hosts/$1; eval \"$2\"\n");
    program("scp", "cp -r \"$ROOT/hosts/${2%%:*}/${2#*:}\" $3\n");
    program(
        "java",
        """
        echo "$@" >> "$ROOT/calls"
        for last; do :; done
        if [ "$3" != merge ]; then mkdir -p "$last/benchmark-1/llm"; fi
        """);
    String page = Files.readString(Path.of("docs/injectors.md"));
    String recipe =
        Pattern.compile("```bash\n(hosts=.*?)```", Pattern.DOTALL)
            .matcher(page)
            .results()
            .map(found -> found.group(1))
            .findFirst()
            .orElseThrow();
    ProcessBuilder bash = new ProcessBuilder("bash", "-e", "-c", recipe).directory(folder.toFile());
    bash.environment().put("ROOT", folder.toString());
    bash.environment().put("PATH", folder + ":" + System.getenv("PATH"));
    var unused = JavaCommand.output(bash);
    return Files.readAllLines(folder.resolve("calls")).stream()
        .map(line -> List.of(line.split(" ")))
        .toList();
  }

  @Test
  void eachHostHasItsShareAndAllAreJoined() throws Exception {
    List<List<String>> calls = calls();

    assertThat(calls).hasSize(4).allSatisfy(call -> assertThat(call).startsWith("-jar"));
    List<Map<String, String>> settings =
        calls.subList(0, 3).stream()
            .map(call -> BenchmarkProcess.of(call.subList(2, call.size())).settings())
            .toList();
    assertThat(settings)
        .extracting(each -> each.get("injector"))
        .containsExactlyInAnyOrder("1/3", "2/3", "3/3");
    assertThat(settings).extracting(each -> each.get("startAt")).doesNotContainNull();
    assertThat(settings.stream().map(each -> each.get("startAt")).distinct()).hasSize(1);
    for (Map<String, String> each : settings) {
      assertThat(CheckedSettings.warnings(each, Map.of(), folder)).isEmpty();
    }
    assertThat(calls.get(3).subList(2, calls.get(3).size()))
        .containsExactly(
            "merge",
            "runs/gen1/benchmark-1",
            "runs/gen2/benchmark-1",
            "runs/gen3/benchmark-1",
            "--out",
            "merged",
            "--fail-as-run");
  }
}
