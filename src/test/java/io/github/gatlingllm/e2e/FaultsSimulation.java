package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Users in closed loops against many servers at once, {@code name=url;…}: a request name each. Then
 * those of {@code floods}, which keep the load generator busy and have all the time they need.
 */
public final class FaultsSimulation extends Simulation {

  static final int USERS = 2;

  static final Duration IDLE = Duration.ofSeconds(1);
  static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Duration LONG = Duration.ofMinutes(1);

  {
    List<PopulationBuilder> first = users("servers", IDLE, TIMEOUT);
    int last = first.size() - 1;
    first.set(last, first.get(last).andThen(users("floods", LONG, LONG)));
    setUp(first);
  }

  private static List<PopulationBuilder> users(String servers, Duration idle, Duration timeout) {
    return Arrays.stream(System.getProperty(servers).split(";"))
        .map(server -> server.split("=", 2))
        .map(server -> users(server[0], server[1], idle, timeout))
        .collect(Collectors.toList());
  }

  private static PopulationBuilder users(String name, String url, Duration idle, Duration timeout) {
    return closedLoop(USERS)
        .requests(USERS)
        .inject(scenario(name).exec(llm(name).chat().user("hi").maxTokens(2)))
        .protocols(
            llm.baseUrl(url)
                .model("m")
                .target(name)
                .idleTimeout(idle)
                .requestTimeout(timeout)
                .verifyTls()
                .disableJvmWarmUp());
  }
}
