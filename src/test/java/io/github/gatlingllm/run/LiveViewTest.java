package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.run.LiveView.LiveServer;
import io.github.gatlingllm.run.Observers.Address;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LiveViewTest {

  private final List<String> said = new ArrayList<>();

  @Test
  void propertyOverridesTheEnvironment() {
    Map<String, String> environment = Map.of("LLM_LIVE", "1", "LLM_OTLP", "http://a/v1/metrics");

    assertThat(Observers.of(Map.of("llm.live", "8099"), environment))
        .isEqualTo(new Observers(new Address("127.0.0.1", 8099), "http://a/v1/metrics", null));
    assertThat(Observers.of(Map.of(), Map.of("LLM_LIVE", "0.0.0.0:8088")).page())
        .isEqualTo(new Address("0.0.0.0", 8088));
    assertThat(Observers.of(Map.of("llm.live", "[::]:0"), Map.of()).page())
        .isEqualTo(new Address("[::]", 0));
    assertThat(Observers.of(Map.of("llm.live", " "), Map.of()))
        .isEqualTo(new Observers(null, null, null));
  }

  @Test
  void invalidAddressIsRefusedInOneLine() {
    for (String port :
        List.of("web", "-1", "65536", "99999999999", "localhost:80", "0.0.0.0:", "::1:80")) {
      assertThatThrownBy(() -> Observers.of(Map.of("llm.live", port), Map.of()))
          .hasMessage(
              "llm.live="
                  + port
                  + ": expected a port, or <IP address>:<port>; port 0 takes any free port");
    }
  }

  @Test
  void portInUseIsPrinted() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Address address = new Address("127.0.0.1", taken.getLocalPort());
      LiveServer.Views views = new LiveServer.Views(() -> "", () -> "", null);
      assertThat(LiveView.server(address, views, said::add)).isNull();
      assertThat(said)
          .singleElement()
          .asString()
          .startsWith("LLM live page: 127.0.0.1:" + taken.getLocalPort() + " is not available (")
          .endsWith("so there is none; port 0 takes any free port");
    }
  }

  @Test
  void invalidCollectorUrlIsPrinted() {
    assertThat(GenAiMeters.open("run-1", new Observers(null, "localhost:4318", null), said::add))
        .isNull();
    assertThat(said)
        .containsExactly(
            "LLM otlp: no meters are sent: localhost:4318 is not a URL such as"
                + " http://localhost:4318/v1/metrics");
  }
}
