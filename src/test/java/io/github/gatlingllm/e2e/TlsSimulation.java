package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import java.util.function.UnaryOperator;

/** A few requests to a server whose certificate is verified, and to one whose is not. */
public final class TlsSimulation extends Simulation {

  static final int REQUESTS = 3;

  {
    setUp(
        users("trusted", LlmProtocolBuilder::verifyTls),
        users("unverified", LlmProtocolBuilder::disableVerifyTls));
  }

  private static PopulationBuilder users(
      String server, UnaryOperator<LlmProtocolBuilder> verifying) {
    return closedLoop(1)
        .requests(REQUESTS)
        .inject(scenario(server).exec(llm("ask").chat().user("Hello").maxTokens(10)))
        .protocols(
            verifying.apply(llm.baseUrl(System.getProperty(server)).model("m").disableJvmWarmUp()));
  }
}
