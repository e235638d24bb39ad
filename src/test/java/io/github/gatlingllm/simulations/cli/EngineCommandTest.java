package io.github.gatlingllm.simulations.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.report.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class EngineCommandTest {
  @Test
  void optionsReachTheEngine() throws Exception {
    try (EmbeddedEngine engine =
        engine(
            "--port=0 --model=tiny --api-key=k --reasoning=2 --max-context=50"
                + " --no-prefix-caching --fixed=1ms,0.5ms")) {
      assertThat(engine.baseUrl()).startsWith("http://127.0.0.1:");
      assertThat(ask(engine, "tiny", "x", 1).statusCode()).isEqualTo(401);
      assertThat(ask(engine, "other", "k", 1).statusCode()).isEqualTo(404);
      assertThat(ask(engine, "tiny", "k", 60).statusCode()).isEqualTo(400);
      assertThat(ask(engine, "tiny", "k", 5).body())
          .contains("\"reasoning_content\":", "\"completion_tokens\":5");
    }
  }

  @Test
  void faultsHaveTheirShares() throws Exception {
    List<Integer> statuses = new ArrayList<>();
    try (EmbeddedEngine engine =
        engine(
            "--port=0 --fixed=1ms,1ms --fault=reject:429:50% --fault=reject:503:50%"
                + " --host=localhost")) {
      for (int i = 0; i < 20; i++) {
        statuses.add(ask(engine, "embedded", "", 1).statusCode());
      }
    }
    assertThat(statuses).containsOnly(429, 503).contains(429, 503);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--decode-step=5 | Invalid value for option '--decode-step': '5' is not a time; expected a"
            + " number with us, ms or s",
        "--fault=slow | --fault=slow is not a fault; expected reject:<status>:<share>%, as"
            + " reject:429:1%",
        "--fault=reject:429 | --fault=reject:429 is not a fault; expected reject:<status>:<share>%,"
            + " as reject:429:1%",
        "--fault=reject:429:0% | Embedded engine: share of a fault is 0.0; expected more than 0",
        "--fault=reject:200:1% | Embedded engine: status of a fault is 200; expected 400 to 599",
        "--fixed=1ms | --fixed needs two times, e.g. 100ms,20ms",
        "--max-batch=0 | Embedded engine: maxBatch is 0; expected 1 or more",
        "--host=192.0.2.1 | Embedded engine cannot listen on 192.0.2.1:8000: the port is taken, or"
            + " the address is not of this machine; choose another one, or port 0 for any free one"
      })
  void mistakesAreOneLine(String option, String message) {
    StringWriter errors = new StringWriter();
    CommandLine command =
        Main.commandLine(new EngineCommand()).setErr(new PrintWriter(errors, true));

    assertThat(command.execute(option)).isEqualTo(1);
    assertThat(errors.toString().strip()).isEqualTo(message);
  }

  private static EmbeddedEngine engine(String options) {
    EngineCommand command = new EngineCommand();
    new CommandLine(command).parseArgs(options.split(" ", -1));
    return command.builder().start();
  }

  private static HttpResponse<String> ask(
      EmbeddedEngine engine, String model, String key, int maxTokens)
      throws IOException, InterruptedException {
    String body =
        "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":%s}"
            .formatted(model, maxTokens);
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create(engine.baseUrl() + "/chat/completions"))
                .header("Authorization", "Bearer " + key)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString());
  }
}
