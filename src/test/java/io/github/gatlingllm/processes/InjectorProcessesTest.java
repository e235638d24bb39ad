package io.github.gatlingllm.processes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.processes.InjectorProcesses.Outcome;
import io.github.gatlingllm.processes.ParentProcess.LoadProgress;
import io.github.gatlingllm.record.InjectorShare;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** With shell scripts that print and read what injectors do. */
@DisabledOnOs(OS.WINDOWS)
class InjectorProcessesTest {

  private static final String READY = "echo gatling-llm ready; read start; ";

  @TempDir Path folder;

  private final List<String> console = new ArrayList<>();
  private final InjectorProcesses processes = new InjectorProcesses(console::add, () -> 1_000L);

  private void start(String... scripts) throws IOException {
    for (int i = 1; i <= scripts.length; i++) {
      processes.start(
          new InjectorShare(i, scripts.length),
          new ProcessBuilder("sh", "-c", scripts[i - 1]),
          folder.resolve(i + ".txt"));
    }
  }

  private List<Integer> codes() throws InterruptedException {
    return processes.await().stream().map(Outcome::exitCode).toList();
  }

  @Test
  void allGetTheSameStartWhenTheLastIsReady() throws Exception {
    start(READY + "echo LLM at $start; echo aside", READY + "echo LLM at $start");

    assertThat(codes()).containsExactly(0, 0);
    assertThat(processes.isStarted()).isTrue();
    assertThat(console).as("once what both say").hasSize(1);
    assertThat(console.get(0)).matches("\\[[12]/2] LLM at 500001000");
    assertThat(Files.readAllLines(folder.resolve("1.txt")))
        .containsExactly("gatling-llm ready", "LLM at 500001000", "aside");
  }

  @Test
  void processThatDiesUnderLoadIsReportedAndTheOthersGoOn() throws Exception {
    start(READY + "kill -9 $$", READY + "exit 2", READY);

    assertThat(processes.await())
        .containsExactly(
            new Outcome(new InjectorShare(1, 3), 137),
            new Outcome(new InjectorShare(2, 3), 2),
            new Outcome(new InjectorShare(3, 3), 0));
    assertThat(console)
        .singleElement()
        .asString()
        .matches("LLM injector 1/3 \\(process \\d+\\) ended with exit code 137, by signal 9");
    assertThat(processes.isStopped()).isFalse();
  }

  @Test
  void processThatCannotStartStopsAll() throws Exception {
    start("echo llm.rate=x: expected a number; exit 1", READY + "exit 0");

    assertThat(codes()).containsExactly(1, 143);
    assertThat(processes.isStarted()).isFalse();
    assertThat(console)
        .startsWith("[1/2] llm.rate=x: expected a number")
        .anySatisfy(line -> assertThat(line).matches("LLM injector 1/2 .* exit code 1"));
  }

  @Test
  void stopSendsSigterm() throws Exception {
    start(READY + "trap 'exit 0' TERM; echo LLM on; while :; do read more || :; done", READY);
    processes.stop();

    assertThat(codes()).hasSize(2);
    assertThat(processes.isStopped()).isTrue();
  }

  @Test
  void injectorGetsTheStartAndEndsWithItsParent() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ParentProcess parent =
        new ParentProcess(
            new ByteArrayInputStream("500001000\n".getBytes(UTF_8)),
            new PrintStream(out, true, UTF_8),
            ended::countDown);

    assertThat(parent.awaitStart()).isEqualTo(500_001_000);
    assertThat(out.toString(UTF_8)).isEqualToIgnoringNewLines("gatling-llm ready");
    ended.await();
  }

  @Test
  void injectorEndsWhereItsParentDiesWithinALine() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    var unused =
        new ParentProcess(
            new ByteArrayInputStream("LLM".getBytes(UTF_8)), System.out, ended::countDown);

    ended.await();
  }

  @Test
  void progressIsSummedUp() {
    LoadProgress one = new LoadProgress("c=8 measure", 8, 100, 1, 1_000.5);
    LoadProgress other = new LoadProgress("c=8 fill", 7, 50, 0, 500);

    assertThat(LoadProgress.of(one.toString())).isEqualTo(one);
    assertThat(LoadProgress.of("LLM c=8: 3 ok")).isNull();
    assertThat(LoadProgress.sum(List.of(one, other)))
        .isEqualTo(new LoadProgress("c=8 measure", 15, 150, 1, 1_500.5));
  }

  @Test
  void numberOfInjectors() {
    assertThat(LocalInjectors.number(null)).isEqualTo(1);
    assertThat(LocalInjectors.number("16")).isEqualTo(16);
    for (String wrong : List.of("0", "257", "two", "1.5", "-3")) {
      assertThatThrownBy(() -> LocalInjectors.number(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("llm.injectors=" + wrong + ": expected how many processes, 1 to 256");
    }
  }
}
