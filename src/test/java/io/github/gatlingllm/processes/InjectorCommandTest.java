package io.github.gatlingllm.processes;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.InjectorShare;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class InjectorCommandTest {

  private static final InjectorCommand COMMAND =
      new InjectorCommand(
          List.of(
              "-Xmx1g",
              "-agentlib:jdwp=transport=dt_socket,server=y,address=5005",
              "-Dllm.endpoint=http://127.0.0.1:8000/v1",
              "-Dllm.injectors=4",
              "-Dcom.sun.management.jmxremote.port=9010",
              "-Dllm.apiKey=sk-secret",
              "--add-opens=java.base/java.lang=ALL-UNNAMED"),
          Map.of(
              "llm.endpoint", "http://127.0.0.1:8000/v1",
              "llm.injectors", "4",
              "llm.apiKey", "sk-secret",
              "llm.model", "set by a program",
              "java.version", "17",
              "user.dir", "/work"),
          "a.jar:b.jar",
          "demo.ChatSimulation",
          2);

  private final List<String> words =
      COMMAND.words(new InjectorShare(3, 4), Path.of("out"), Map.of("llm.seed", "42"));

  @Test
  void commandIsThatOfThisProcessWithAShare() {
    assertThat(words.get(0)).endsWith("java");
    assertThat(words.subList(1, words.size()))
        .containsExactlyInAnyOrder(
            "-Xmx1g",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-XX:ActiveProcessorCount=2",
            "-Dllm.endpoint=http://127.0.0.1:8000/v1",
            "-Dllm.model=set by a program",
            "-Dllm.seed=42",
            "-Dllm.injector=3/4",
            "-Dllm.injectors=1",
            "-Dgatlingllm.injectorProcess=true",
            "-cp",
            "a.jar:b.jar",
            "io.gatling.app.Gatling",
            "-s",
            "demo.ChatSimulation",
            "-rf",
            "out",
            "-nr");
    assertThat(words).containsSubsequence("-cp", "a.jar:b.jar", "io.gatling.app.Gatling", "-s");
  }

  @Test
  void apiKeyIsPassedInTheEnvironment() {
    Map<String, String> environment = new HashMap<>(Map.of("GITHUB_STEP_SUMMARY", "/summary"));
    COMMAND.prepare(environment);

    assertThat(words).noneMatch(word -> word.contains("sk-secret"));
    assertThat(environment).isEqualTo(Map.of("LLM_API_KEY", "sk-secret"));
  }

  @Test
  void processorsOfTheUserAreKept() {
    InjectorCommand own =
        new InjectorCommand(List.of("-XX:ActiveProcessorCount=8"), Map.of(), "a.jar", "Demo", 2);

    assertThat(own.words(new InjectorShare(1, 2), Path.of("out"), Map.of()))
        .filteredOn(word -> word.startsWith("-XX:ActiveProcessorCount"))
        .containsExactly("-XX:ActiveProcessorCount=8");
  }
}
