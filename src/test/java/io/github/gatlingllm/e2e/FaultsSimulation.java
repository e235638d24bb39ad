package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Closed loops against many servers at the same time, {@code name=url;…}: one request name per
 * server, with long timeouts. The servers in {@code silent} get short timeouts.
 */
public final class FaultsSimulation extends Simulation {

  static final int USERS = 2;

  /** Longer than a busy machine takes to send a request and read the first bytes. */
  static final Duration IDLE = Duration.ofSeconds(3);

  static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Duration LONG = Duration.ofMinutes(1);

  {
    List<PopulationBuilder> all = users("silent", IDLE, TIMEOUT);
    all.addAll(users("servers", LONG, LONG));
    setUp(all);
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
