package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunDirectoryTest {

  @ParameterizedTest
  @CsvSource({
    "io.gatling.app.Gatling -rf /tmp/results -s demo, /tmp/results",
    "--results-folder out, out",
    "-s demo -rf a folder with spaces -nr, a folder with spaces",
    "-s demo,",
    "-rf,",
    "'',",
  })
  void resultsFolderIsReadFromGatlingsArguments(String command, @Nullable Path root) {
    assertThat(RunDirectory.root(command.split(" ", -1))).isEqualTo(Optional.ofNullable(root));
  }

  @Test
  void itIsWhereTheOpenLogIs(@TempDir Path folder) throws IOException {
    Path log = log(folder, "results/demo-1");
    Path links = Files.createDirectory(folder.resolve("fd"));
    Files.createSymbolicLink(links.resolve("0"), folder.resolve("demo-1"));
    Files.createSymbolicLink(links.resolve("7"), log);

    assertThat(RunDirectory.opened(links, "demo-1")).contains(log.getParent());
    assertThat(RunDirectory.opened(links, "demo-2")).isEmpty();
    assertThat(RunDirectory.opened(folder.resolve("none"), "demo-1")).isEmpty();
  }

  @Test
  void itIsFoundBelowTheWorkingDirectory(@TempDir Path folder) throws IOException {
    Path log = log(folder, "build/reports/gatling/demo-1");

    assertThat(RunDirectory.searched(folder, "demo-1")).contains(log.getParent());
    assertThat(RunDirectory.searched(folder, "demo-2")).isEmpty();
    assertThat(RunDirectory.searched(folder.resolve("none"), "demo-1")).isEmpty();
  }

  @Test
  void aFolderThatCanBeWrittenIsCreatedAndLeftEmpty(@TempDir Path folder) throws IOException {
    Path root = folder.resolve("a/results");

    RunDirectory.checkRoot(root);

    assertThat(root).isEmptyDirectory();
  }

  @Test
  void aFolderThatCannotBeWrittenIsNamedWithTheReason(@TempDir Path folder) throws IOException {
    Path file = Files.createFile(folder.resolve("results"));

    assertThatThrownBy(() -> RunDirectory.checkRoot(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(file.toString(), "a file of that name exists", "-rf");
  }

  private static Path log(Path folder, String run) throws IOException {
    return Files.createFile(Files.createDirectories(folder.resolve(run)).resolve("simulation.log"));
  }

  @Test
  void aGatlingWithoutALogGetsAFolderOfOurs(@TempDir Path folder) throws IOException {
    LocalDateTime now = LocalDateTime.of(2026, 11, 22, 13, 45, 6, 7_000_000);
    String[] command = {"-s", "demo.ChatSimulation", "-rf", folder.resolve("out").toString()};

    RunDirectory own = RunDirectory.own(command, now);

    assertThat(own.simulation()).isEqualTo("demo.ChatSimulation");
    assertThat(own.path()).isEqualTo(folder.resolve("out/chatsimulation-20261122134506007"));

    Path file = Files.createFile(folder.resolve("file"));
    RunDirectory elsewhere = RunDirectory.own(new String[] {"-rf", file.toString()}, now);
    assertThat(elsewhere.simulation()).isEqualTo("Simulation");
    assertThat(elsewhere.path())
        .hasParentRaw(Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath());
  }
}
