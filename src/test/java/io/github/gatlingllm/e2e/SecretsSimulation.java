package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import java.util.List;

/** One user who sends secrets in every possible way, to a server that echoes them. */
public final class SecretsSimulation extends Simulation {

  static final List<String> KEYS =
      List.of(
          "sk-k3y/+=abc", "t3nant\\secret", "c00kie-value", "url-p4rameter", "fr0m the session");

  public SecretsSimulation() {
    setUp(
            scenario("Keys")
                .exec(session -> session.set("mine", KEYS.get(4)))
                .exec(
                    llm("streamed").chat().user("Hello"),
                    llm("checked").chat().user("Hello").check(answer().is("no")),
                    llm("refused").chat().user("Hello"),
                    llm("broken").chat().user("Hello"))
                .injectOpen(atOnceUsers(1)))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl") + "/chat/completions?api-key=" + KEYS.get(3))
                .apiKey(KEYS.get(0))
                .header("x-api-key", KEYS.get(1))
                .header("Cookie", "session=" + KEYS.get(2))
                .header("X-Auth", "#{mine}")
                .warmUp(0)
                .disableJvmWarmUp()
                .recordText()
                .csv());
  }
}
