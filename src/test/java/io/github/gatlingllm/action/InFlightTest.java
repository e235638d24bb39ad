package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.core.session.Session;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.client.StreamedExchange;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class InFlightTest {

  private final InFlight inFlight = new InFlight();
  private final Session session = Sessions.with(Map.of());

  private StreamedExchange exchange() {
    Timeline timeline = new Timeline(0, 0);
    return new StreamedExchange(
        timeline,
        GenerationRequest.of(Api.CHAT).prompt("Hi").build(),
        0,
        Secrets.NONE,
        null,
        session.eventLoop(),
        () -> 1,
        inFlight::remove);
  }

  /** The task blocks the event loop, so that the submitted cancellation has not run yet. */
  @Test
  void requestAdmittedAfterItsLevelIsOverIsCancelled() throws Exception {
    StreamedExchange exchange = exchange();
    Callable<?> blocking =
        () -> {
          inFlight.add(exchange, session);
          inFlight.close(InFlight.INTERRUPTED);
          inFlight.await(System.nanoTime());
          assertThat(exchange.isOver()).as("the cancel is still on its way").isFalse();
          assertThat(inFlight.size()).as("time was up").isOne();
          inFlight.cancelIfLate(exchange, session);
          return null;
        };
    session.eventLoop().submit(blocking).get(60, TimeUnit.SECONDS);
    assertThat(exchange.ending().status()).isEqualTo(RequestStatus.CANCELLED);
    assertThat(exchange.ending().error()).isEqualTo(InFlight.INTERRUPTED);
    assertThat(exchange.timeline().isAdmitted()).isFalse();
    assertThat(inFlight.size()).isZero();
  }
}
