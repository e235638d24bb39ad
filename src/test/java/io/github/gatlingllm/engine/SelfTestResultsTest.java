package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.SelfTest.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SelfTestResultsTest {

  private static final Map<String, String> VERSIONS = Map.of("gatling-llm", "1.0");
  private static final Machine HERE = new Machine("A CPU", 2, 1_000, "A VM", List.of());

  @TempDir private Path folder;
  private Path file;
  private final List<String> said = new ArrayList<>();
  private final RunInfo run = RunInfo.started("run", "sim", "here", 0).versions(VERSIONS);

  @BeforeEach
  void keepOne() throws IOException {
    file = folder.resolve("self-test.json");
    SelfTest.of(7, HERE, VERSIONS, 10, List.of()).write(file);
  }

  private @Nullable SelfTest atEnd(Machine machine) {
    return new SelfTestResults(file, machine)
        .atEndOf(run, new RunFiles(folder), nanos -> nanos, said::add);
  }

  @Test
  void aRunOnTheSameMachineQuotesIt() {
    assertThat(atEnd(HERE)).isNotNull().matches(SelfTest::applies);
  }

  @Test
  void aRunOnAnotherMachineDoesNot() {
    assertThat(atEnd(new Machine("Another CPU", 2, 1_000, "A VM", List.of())))
        .isNotNull()
        .matches(test -> test.differs().equals(List.of("processor")));
  }

  @Test
  void aRunWhereNothingWasMeasuredKnowsNothing() throws IOException {
    Files.delete(file);
    assertThat(atEnd(HERE)).isNull();
    assertThat(said).isEmpty();
  }

  @Test
  void aDamagedFileIsReportedInALine() throws IOException {
    Files.writeString(file, "{");
    assertThat(atEnd(HERE)).isNull();
    assertThat(said)
        .singleElement()
        .matches(line -> line.startsWith("LLM self-test: " + file + " is not understood"));
  }

  @Test
  void anEngineThatIsGoneIsReportedInALine() {
    assertThat(
            new SelfTestResults(file, HERE)
                .atEndOf(run.config(SelfTest.ENGINE, "1"), new RunFiles(folder), n -> n, said::add))
        .isNull();
    assertThat(said).singleElement().matches(line -> line.startsWith("LLM self-test: "));
  }

  @Test
  void theFileIsTheUsersUnlessAnotherIsNamed() {
    assertThat(SelfTestResults.file(null, "/home/me"))
        .isEqualTo(Path.of("/home/me/.gatling-llm/self-test.json"));
    assertThat(SelfTestResults.file("a.json", "/home/me")).isEqualTo(Path.of("a.json"));
  }

  @Test
  void theProcessorIsNamedAsTheSystemNamesIt() throws IOException {
    Path cpuinfo = folder.resolve("cpuinfo");
    Files.writeString(cpuinfo, "processor\t: 0\nmodel name\t: A CPU @ 2 GHz\nmodel name\t: B\n");
    assertThat(SelfTestResults.processor(cpuinfo, null)).isEqualTo("A CPU @ 2 GHz");
    Path none = folder.resolve("none");
    assertThat(SelfTestResults.processor(none, "Intel64 Family 6")).isEqualTo("Intel64 Family 6");
    assertThat(SelfTestResults.processor(none, null)).isEqualTo(System.getProperty("os.arch"));
    Files.writeString(cpuinfo, "processor\t: 0\n");
    assertThat(SelfTestResults.processor(cpuinfo, null)).isEqualTo(System.getProperty("os.arch"));
  }

  @Test
  void thisJvmIsDescribed() {
    Machine machine = SelfTestResults.ofUser().machine();
    assertThat(machine.processor()).isNotBlank();
    assertThat(machine.processors()).isPositive();
    assertThat(machine.memoryMib()).isGreaterThan(100);
    assertThat(machine.jvmOptions()).noneMatch(option -> option.startsWith("-D"));
  }
}
