package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.SelfSigned;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Certificates are verified by default. */
class TlsIT {

  private static final int REQUESTS = TlsSimulation.REQUESTS;
  private static final String REFUSED =
      "TLS failed: the server's certificate is not trusted; add its authority to the trust store,"
          + " or set verifyTls=false";

  @TempDir private Path folder;

  private ScriptedServer server;

  @BeforeEach
  void startServerWithSelfSignedCertificate() throws Exception {
    server =
        ScriptedServer.startTls(SelfSigned.sslContext(folder), exchange -> exchange.answer("Hi"));
  }

  @AfterEach
  void stopServer() throws Exception {
    server.close();
  }

  private GatlingRun.Setup benchmark() {
    return GatlingRun.of(Benchmark.class)
        .set("llm.endpoint", server.baseUrl() + "/v1")
        .set("llm.concurrency", 1)
        .set("llm.requests", REQUESTS);
  }

  @Test
  void untrustedCertificateIsRefusedInOneLine() throws Exception {
    GatlingRun run = benchmark().set("llm.warmup", 0).run();

    assertThat(server.requests()).isEmpty();
    assertThat(run.requests())
        .hasSize(REQUESTS)
        .allSatisfy(
            record -> {
              assertThat(record.outcome().status()).isEqualTo(RequestStatus.CONNECTION_ERROR);
              assertThat(record.outcome().error()).isEqualTo(REFUSED);
            });
  }

  @Test
  void verifyTlsFalseAcceptsIt() throws Exception {
    GatlingRun run = benchmark().set("llm.verifyTls", false).run();

    assertThat(run.requests()).hasSize(REQUESTS).allMatch(record -> record.outcome().ok());
    assertThat(run.info().config()).containsEntry("verifyTls", "false");
  }

  @Test
  void trustStoreOfTheJvmIsUsed() throws Exception {
    GatlingRun run =
        GatlingRun.of(TlsSimulation.class, server.baseUrl() + "/v1")
            .set("javax.net.ssl.trustStore", folder.resolve("self-signed.p12"))
            .set("javax.net.ssl.trustStorePassword", "changeit")
            .run();

    assertThat(run.requests()).hasSize(REQUESTS).allMatch(record -> record.outcome().ok());
  }
}
