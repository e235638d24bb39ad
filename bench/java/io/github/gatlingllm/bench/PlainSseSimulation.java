package io.github.gatlingllm.bench;

import static io.gatling.javaapi.core.CoreDsl.StringBody;
import static io.gatling.javaapi.core.CoreDsl.asLongAs;
import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.pause;
import static io.gatling.javaapi.core.CoreDsl.repeat;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.sse;
import static java.time.Duration.ofMillis;

import io.gatling.http.action.sse.SseInboundMessage;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.Simulation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** Streams with plain Gatling, which polls messages every few milliseconds. */
public final class PlainSseSimulation extends Simulation {

  private static final String START = "start";
  private static final String OFFSETS = "offsets";
  private static final String ENDED = "ended";

  private final int tokens = Integer.getInteger("tokens");
  private final Queue<TimedStream> streams = new ConcurrentLinkedQueue<>();

  {
    setUp(
            scenario("SSE")
                .exec(
                    repeat(Integer.getInteger("turns"))
                        .on(
                            exec(PlainSseSimulation::begin),
                            sse("ask")
                                .post("/v1/chat/completions")
                                .header("content-type", "application/json")
                                .body(
                                    StringBody(
                                        "{\"model\":\"bench\",\"messages\":[{\"role\":\"user\","
                                            + "\"content\":\""
                                            + BenchScenario.SHORT.prompt()
                                            + "\"}],\"stream\":true,\"max_tokens\":"
                                            + tokens
                                            + "}")),
                            asLongAs(session -> !session.contains(ENDED))
                                .on(
                                    pause(ofMillis(5)),
                                    sse.processUnmatchedMessages(this::collect)),
                            sse("end").close()))
                .injectOpen(atOnceUsers(Integer.getInteger("streams"))))
        .protocols(
            http.baseUrl(System.getProperty("baseUrl"))
                .sseUnmatchedInboundMessageBufferSize(2 * tokens + 10));
  }

  private static Session begin(Session session) {
    return session
        .remove(ENDED)
        .set(START, System.currentTimeMillis())
        .set(OFFSETS, new ArrayList<Long>());
  }

  private Session collect(List<SseInboundMessage> messages, Session session) {
    List<Long> offsets = session.get(OFFSETS);
    boolean ended = false;
    for (SseInboundMessage message : messages) {
      if (offsets.size() < tokens) {
        long millis = message.timestamp() - session.getLong(START);
        offsets.add(TimeUnit.MILLISECONDS.toNanos(millis));
      }
      if (message.message().contains("[DONE]")) {
        ended = true;
      } else if (offsets.size() == tokens && !session.contains("number")) {
        session = session.set("number", BenchAnswer.number(message.message()));
      }
    }
    if (!ended) {
      return session;
    }
    streams.add(
        new TimedStream(
            "",
            session.getLong("number"),
            0,
            offsets.stream().mapToLong(offset -> offset).toArray()));
    return session.remove("number").set(ENDED, true);
  }

  @Override
  public void after() {
    try {
      TimedStream.write(Path.of(System.getProperty("file")), List.copyOf(streams));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
