package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.SelfSigned;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
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

  @Test
  void trustStoreOfTheJvmIsUsedUnlessNothingIsVerified() throws Exception {
    try (ScriptedServer unknown =
        ScriptedServer.startTls(
            SelfSigned.sslContext(Files.createDirectory(folder.resolve("unknown"))),
            exchange -> exchange.answer("Hi"))) {
      GatlingRun run =
          GatlingRun.of(TlsSimulation.class)
              .set("trusted", server.baseUrl() + "/v1")
              .set("unverified", unknown.baseUrl() + "/v1")
              .set("untrusted", unknown.baseUrl() + "/v1")
              .set("javax.net.ssl.trustStore", folder.resolve("self-signed.p12"))
              .set("javax.net.ssl.trustStorePassword", "changeit")
              .succeed();

      assertThat(run.requests())
          .filteredOn(record -> record.identity().scenario().equals("untrusted"))
          .hasSize(REQUESTS)
          .extracting(record -> record.outcome().status(), record -> record.outcome().error())
          .containsOnly(tuple(RequestStatus.CONNECTION_ERROR, REFUSED));
      assertThat(run.requests()).filteredOn(record -> record.outcome().ok()).hasSize(2 * REQUESTS);
    }
  }

  /** Requests to a server whose certificate is verified, and to one whose is not. */
  public static final class TlsSimulation extends Simulation {

    static final int REQUESTS = 3;

    {
      setUp(
          users("trusted", LlmProtocolBuilder::verifyTls),
          users("unverified", LlmProtocolBuilder::disableVerifyTls),
          users("untrusted", LlmProtocolBuilder::verifyTls));
    }

    private static PopulationBuilder users(
        String server, UnaryOperator<LlmProtocolBuilder> verifying) {
      return closedLoop(1)
          .requests(REQUESTS)
          .inject(scenario(server).exec(llm("ask").chat().user("Hello").maxTokens(10)))
          .protocols(
              verifying.apply(
                  llm.baseUrl(System.getProperty(server)).model("m").disableJvmWarmUp()));
    }
  }
}
