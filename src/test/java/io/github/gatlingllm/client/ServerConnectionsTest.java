package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ServerConnectionsTest {

  private final ServerConnections server = new ServerConnections("127.0.0.1:8000");

  @Test
  void halfOfTheLastSixteenNeedNewConnections() {
    for (int i = 0; i < 7; i++) {
      server.wasClosed();
      server.wasKept();
    }
    assertThat(server.needsNewConnections()).isFalse();
    server.wasClosed();
    assertThat(server.needsNewConnections()).isTrue();
    assertThat(server.closed()).isEqualTo(8);
    assertThat(server.kept()).isEqualTo(7);
  }

  /** As when an embedded engine is closed behind the last answer of a run. */
  @Test
  void connectionsClosedAfterTheLastRequestAreNotCounted() {
    for (int i = 0; i < 10; i++) {
      server.wasKept();
    }
    for (int i = 0; i < 16; i++) {
      server.wasClosed();
    }
    server.wasKept(); // a connection that it has not closed yet when it is looked at
    assertThat(server.closed()).isZero();
  }

  @Test
  void everyTenthClosedConnectionIsAccepted() {
    for (int i = 1; i <= 1_000; i++) {
      if (i % 10 == 0) {
        server.wasClosed();
      } else {
        server.wasKept();
      }
      assertThat(server.needsNewConnections()).isFalse();
    }
  }

  /** As after all connections were closed at once because a server was started again. */
  @Test
  void keptConnectionsEndTheNeedForNewOnes() {
    for (int i = 0; i < 64; i++) {
      server.wasClosed();
    }
    assertThat(server.needsNewConnections()).isTrue();
    for (int i = 0; i < 8; i++) {
      server.wasKept();
      assertThat(server.needsNewConnections()).isTrue();
    }
    server.wasKept();
    assertThat(server.needsNewConnections()).isFalse();
  }
}
