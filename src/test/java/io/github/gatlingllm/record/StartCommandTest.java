package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StartCommandTest {

  private static final String SIMULATION = " -Dgatling.simulationClass=First";

  /** Settings of the run, of the user, and a key. */
  private static Map<String, String> properties(String classPath) {
    return new HashMap<>(
        Map.of(
            "java.class.path", classPath,
            "baseUrl", "http://a:8000/v1",
            "token", "sk-1",
            "llm.prompt", "Why is it blue?",
            "llm.slo", "ttft<1s",
            "llm.apiKey", "sk-1",
            "llm.injector", "1/2"));
  }

  private static StartCommand of(Map<String, String> properties, String mavenArguments) {
    return StartCommand.of(
        "First",
        properties,
        Map.of("MAVEN_CMD_LINE_ARGS", mavenArguments),
        true,
        (name, value) -> List.of("token", "llm.injector").contains(name) || value.equals("sk-1"));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {
        " | ",
        "mvn gatling:test | gatling:test",
        "mvn -Pperf gatling:test -DbaseUrl=http://a:8000/v1 -q"
            + " | -Pperf gatling:test -DbaseUrl=http://a:8000/v1 -Dtoken=sk-1 -q",
        "mvn verify | verify -Dgatling.simulationClass=Other -Dllm.prompt=Why is it blue?",
        "mvn gatling:test -DskipTests | gatling:test -DskipTests -Dllm.slo=ttft<1s",
      },
      delimiter = '|')
  void mavenIsStartedAsItWas(String command, String typed) {
    StartCommand start = of(properties("/tmp/gatlingbooter1.jar"), typed == null ? "" : typed);
    String base = (command == null ? "mvn gatling:test" : command) + SIMULATION;
    assertThat(start.text())
        .isEqualTo(base + " -Dllm.prompt='Why is it blue?' -Dllm.slo='ttft<1s'");
    assertThat(start.alone("selfTest", "true")).isEqualTo(base + " -Dllm.selfTest=true");
    assertThat(start.with("slo", "e2e<2s"))
        .isEqualTo(base + " -Dllm.prompt='Why is it blue?' -Dllm.slo='e2e<2s'");
    assertThat(start.forRecords("render x")).startsWith("render x");
  }

  @Test
  void jarTakesOptions() {
    Map<String, String> properties = properties("x.jar");
    properties.put(
        StartCommand.PROPERTY, "java -jar x.jar --simulation My.java --jvm '-Xmx2g -ea'");
    properties.put("llm.dataset.D", "oasst:a.jsonl");
    properties.put("llm.maxTokens", "7");
    StartCommand start = of(properties, "");
    String base = "java -jar x.jar --simulation My.java --jvm '-Xmx2g -ea'";
    String settings = " --dataset.D oasst:a.jsonl --max-tokens 7 --prompt 'Why is it blue?' --slo ";
    assertThat(start.text()).isEqualTo(base + settings + "'ttft<1s'");
    assertThat(start.with("slo", "e2e<2s")).isEqualTo(base + settings + "'e2e<2s'");
    assertThat(start.alone("selfTest", "true")).isEqualTo(base + " --self-test true");
    assertThat(start.forRecords("render x")).isEqualTo("java -jar x.jar render x");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "llm.maxTokens=0: expected … with llm.rate | --max-tokens=0: expected … with --rate",
        "give -Dllm.seed=7, or llm.slo too | give --seed=7, or --slo too",
        "see llm.slo. | see --slo.",
        "llm.dataset.D=a: unknown, llm.header.X-Tenant | --dataset.D=a: unknown,"
            + " llm.header.X-Tenant",
        "at http://llm.a/v1, llm.a:80, llm.a.de | at http://llm.a/v1, llm.a:80, llm.a.de",
        "llm.baseUrl(…) | llm.baseUrl(…)",
      })
  void settingsAreNamedAsOptionsOfTheJar(String line, String asOptions) {
    assertThat(StartCommand.typed(line, true)).isEqualTo(asOptions);
    assertThat(StartCommand.typed(line, false)).isEqualTo(line);
  }

  @Test
  void gradleAndOthers() {
    assertThat(of(properties("a.jar:/p/build/classes/java/gatling:b.jar"), "").alone("seed", "7"))
        .isEqualTo("./gradlew gatlingRun --simulation First -Dllm.seed=7");
    StartCommand program = of(properties("target/classes"), "");
    assertThat(program.text()).isNull();
    assertThat(program.with("slo", "e2e<2s")).endsWith(" -Dllm.slo='e2e<2s'");
  }
}
