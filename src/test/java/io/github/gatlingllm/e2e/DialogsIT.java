package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.IntNode;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.DatasetFeeder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.workload.Tokenizer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class DialogsIT {
  private static final String TUTOR = "Sei kurz. ☀️";
  private static final String FIRST = "Was ist Licht?";
  private static final String SECOND = "Wovon?";
  private static final String RECORDED = "Eine Welle.";

  @AutoClose private static Parrot server;
  private static GatlingRun run;

  @BeforeAll
  static void run() throws Exception {
    server = new Parrot();
    run = GatlingRun.of(DialogsSimulation.class).set("url", server.url()).succeed();
  }

  @Test
  void oneRequestPerDialogEndsWithTheLastUserMessage() throws Exception {
    assertOneShots(server.heard());
    assertThat(run.requests("one shot")).hasSize(3).allMatch(record -> record.outcome().ok());
  }

  /** The three chats of the file, each with its recorded output length. */
  private static void assertOneShots(List<Parrot.Heard> heard) {
    JsonNode text = only(heard, "Answer in one word.");
    assertThat(new Parrot.Heard(heard.get(0).request(), text).contents())
        .containsExactly("Answer in one word.", "Sky?", "Blue", "Grass?");
    JsonNode picture = only(heard, "data:image/png;base64,AAAA");
    assertThat(picture.at("/messages/0/content/1/image_url/url").asText())
        .isEqualTo("data:image/png;base64,AAAA");
    JsonNode weather = only(heard, "Weather in Bonn?");
    assertThat(weather.at("/messages")).hasSize(3);
    assertThat(weather.at("/messages/1/tool_calls/0/id").asText()).isEqualTo("c1");
    assertThat(weather.at("/messages/2/tool_call_id").asText()).isEqualTo("c1");
    assertThat(weather.at("/tools/0/function/name").asText()).isEqualTo("weather");
    assertThat(text.path("max_tokens").asInt()).isEqualTo(3);
    assertThat(picture.path("max_tokens").asInt()).isEqualTo(40);
    assertThat(weather.path("max_tokens").asInt())
        .isEqualTo(Tokenizer.cl100k().count("It is 12 °C."));
  }

  private static JsonNode only(List<Parrot.Heard> heard, String part) {
    List<JsonNode> bodies =
        heard.stream()
            .map(Parrot.Heard::body)
            .filter(body -> body.path("messages").toString().contains(part))
            .toList();
    assertThat(bodies).as(part).hasSize(1);
    return bodies.get(0);
  }

  @Test
  void historyHasTheServersAnswers() throws Exception {
    assertThat(dialogs("own 2"))
        .containsExactly(List.of(TUTOR, FIRST), List.of(TUTOR, FIRST, Parrot.OTHERWISE, SECOND));
    assertThat(run.requests("own 2"))
        .extracting(record -> record.identity().turn())
        .containsExactly(1, 2);
  }

  @Test
  void historyHasRecordedAnswersIfConfigured() throws Exception {
    assertThat(dialogs("recorded"))
        .containsExactly(List.of("Be kind.", FIRST), List.of("Be kind.", FIRST, RECORDED, SECOND));
  }

  @Test
  void conversationAtItsContextLimitStopsAndTheUserContinues() throws Exception {
    assertThat(run.requests("full")).as("7 + 2 tokens, 2 new ones and 10 to come").hasSize(2);
    assertThat(run.requests("left")).hasSize(2).allMatch(record -> record.outcome().ok());
    String reason = "full: context limit of " + DialogsSimulation.LIMIT + " tokens reached";
    assertThat(run.lines())
        .filteredOn(line -> line.contains(reason))
        .containsExactly(
            "LLM "
                + reason
                + ", so the next turn is not sent; the end of the run states how many were not",
            "LLM turns not sent, " + reason + ": 4");
    assertThat(run.info().config()).containsEntry("turns not sent, " + reason, "4");
  }

  @Test
  void failedTurnEndsItsDialog() throws Exception {
    assertThat(run.requests("fails")).hasSize(1).noneMatch(record -> record.outcome().ok());
    assertThat(run.requests("cannot be made"))
        .isNotEmpty()
        .allMatch(record -> record.outcome().status() == RequestStatus.NOT_BUILT);
    assertThat(run.output())
        .contains("No attribute named 'nothing' is defined")
        .contains("conversation 'plain' follows no dialog; start it so: conversation(\"plain\")");
  }

  @Test
  void imagesAreContentParts() throws Exception {
    List<JsonNode> bodies =
        server.heard().stream()
            .map(Parrot.Heard::body)
            .filter(body -> body.at("/messages/0/content/0/text").asText().equals("Which is red?"))
            .toList();

    assertThat(bodies).hasSize(2);
    for (JsonNode body : bodies) {
      JsonNode parts = body.at("/messages/0/content");
      assertThat(parts).hasSize(3);
      assertThat(parts.at("/1/type").asText()).isEqualTo("image_url");
      assertThat(decoded(parts.path(1)).getRGB(0, 0)).isEqualTo(0xffff0000);
      assertThat(decoded(parts.path(2)).getWidth()).isEqualTo(4);
      assertThat(body.path("n").asInt()).isEqualTo(2);
      assertThat(body.path("tool_choice").asText()).isEqualTo("auto");
      assertThat(body.at("/tools/0/function/name").asText()).isEqualTo("point");
    }
    assertThat(bodies).as("variants take turns").doesNotHaveDuplicates();
    RequestRecord look = run.requests("look").get(0);
    assertThat(look.tokens().promptChars()).as("an image is not text").isEqualTo(13);
  }

  private static java.awt.image.BufferedImage decoded(JsonNode part) throws IOException {
    String url = part.at("/image_url/url").asText();
    assertThat(url).startsWith("data:image/png;base64,");
    byte[] png = Base64.getDecoder().decode(url.substring(url.indexOf(',') + 1));
    return ImageIO.read(new ByteArrayInputStream(png));
  }

  @Test
  void benchmarkSendsOneRequestPerDialog() throws Exception {
    try (Parrot target = new Parrot()) {
      GatlingRun benchmark =
          GatlingRun.of(Benchmark.class)
              .set("llm.endpoint", target.baseUrl())
              .llm(
                  "dataset=openai:datasets/openai.jsonl concurrency=1 requests=3 warmup=0"
                      + " ignoreEos=false")
              .succeed();
      assertThat(benchmark.requests()).hasSize(3);
      assertOneShots(target.heard());
      assertThat(benchmark.output())
          .contains("dataset        openai.jsonl (openai)\n               3 dialogs, 1 to 2 turns")
          .contains("output         as recorded, else at most lognormal lengths of mean 128");
    }
  }

  private static List<List<String>> dialogs(String request) throws Exception {
    List<String> ids =
        run.requests(request).stream().map(record -> record.identity().requestId()).toList();
    return server.heard().stream()
        .filter(heard -> ids.contains(heard.request().header("X-Request-Id")))
        .map(Parrot.Heard::contents)
        .toList();
  }

  @Test
  void dialogsKeepTheirModelAndTheirReplica() throws Exception {
    String answer = ChatChunks.withUsage(ChatChunks.body("Hi"), 5, 1);
    try (ScriptedServer a =
            ScriptedServer.start(
                e -> e.respond(200, "application/json", answer, "X-Inference-Pod: pod-a"));
        ScriptedServer b = ScriptedServer.start(e -> e.respond(200, "application/json", answer))) {
      GatlingRun run =
          GatlingRun.of(Benchmark.class)
              .set("llm.endpoint", a.baseUrl() + "/v1+" + b.baseUrl() + "/v1")
              .llm(
                  "model=base=1,lora:8b=1,lora-b=1 conversationHeader=x-session-id scenario=D"
                      + " turns=2 stream=false ignoreEos=false concurrency=2 requests=60")
              .succeed();
      Set<String> dialogs = new HashSet<>();
      List<String> models = new ArrayList<>();
      for (ScriptedServer server : List.of(a, b)) {
        List<Request> asked = server.requests();
        assertThat(asked.stream().limit(3).map(DialogsIT::model))
            .as("each model is tried at each URL")
            .containsExactly("base", "lora:8b", "lora-b");
        for (int turn = 3; turn < asked.size(); turn++) {
          models.add(model(asked.get(turn)));
          String dialog = asked.get(turn).header("x-session-id");
          boolean isSecond = turn % 2 == 0;
          assertThat(dialogs.add(dialog)).isEqualTo(!isSecond);
          if (isSecond) {
            assertThat(dialog).isEqualTo(asked.get(turn - 1).header("x-session-id"));
            assertThat(model(asked.get(turn))).isEqualTo(model(asked.get(turn - 1)));
          }
        }
      }
      assertThat(run.summary().at("/by/model")).hasSize(3);
      for (JsonNode model : run.summary().at("/by/model")) {
        assertThat(model.at("/counts/started").asInt())
            .isEqualTo(Collections.frequency(models, model.path("name").asText()));
      }
      assertThat(run.summary().at("/by/replica"))
          .extracting(of -> of.path("name").asText(), of -> of.at("/counts/started").asInt())
          .containsExactlyInAnyOrder(
              tuple("pod-a", a.requests().size() - 3),
              tuple("127.0.0.1:" + b.port(), b.requests().size() - 3));
      assertThat(run.summary().at("/targets/0/replicas/answering")).contains(IntNode.valueOf(2));
      assertThat(run.output()).contains("---- Models ----", "> lora:8b ", "---- Replicas ----");
    }
  }

  private static String model(Request request) {
    try {
      return new ObjectMapper().readTree(request.body()).path("model").asText();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static final class DialogsSimulation extends Simulation {

    static final int LIMIT = 15;

    private static DatasetFeeder tutor() {
      return dataset(shareGpt("datasets/sharegpt.json")).inOrder();
    }

    private final ScenarioBuilder oneShot =
        scenario("One shot")
            .feed(dataset(openAiChat("datasets/openai.jsonl")).seed(42))
            .exec(llm("one shot").chat().messages("#{dialog}").maxTokens("#{outputTokens}"));

    private final ScenarioBuilder ownAnswers =
        scenario("Own answers")
            .feed(tutor())
            .exec(conversation("history").dialog("#{dialog}"))
            .asLongAs(goesOn("history"))
            .on(llm("own #{turns}").chat().nextTurn("history"), pause(2, 8));

    private final ScenarioBuilder recordedAnswers =
        scenario("Recorded answers")
            .feed(tutor())
            .exec(conversation("history").dialog("#{dialog}").recordedAnswers().system("Be kind."))
            .asLongAs(goesOn("history"))
            .on(llm("recorded").chat().nextTurn("history"));

    private final ScenarioBuilder full =
        scenario("Full")
            .exec(conversation("history").contextLimit(LIMIT))
            .repeat(3)
            .on(llm("full").chat().history("history").user("say hi").maxTokens(10))
            .doIf(session -> !goesOn("history").apply(session))
            .then(llm("left").chat().user("say left"));

    private final ScenarioBuilder failing =
        scenario("Failing")
            .feed(tutor())
            .exec(conversation("history").dialog("#{dialog}"))
            .asLongAs(goesOn("history"))
            .on(llm("fails").chat().nextTurn("history").check(substring("never there")))
            .exec(conversation("history").dialog("#{dialog}"))
            .repeat(2)
            .on(llm("cannot be made").chat().nextTurn("history").maxTokens("#{nothing}"))
            .exec(conversation("plain"))
            .exec(llm("without dialog").chat().nextTurn("plain"));

    private final ScenarioBuilder images =
        scenario("Images")
            .exec(
                llm("look")
                    .chat()
                    .user("Which is red?", image("datasets/pixel.png"), image(4, 4).variants(2))
                    .choices(2)
                    .tools("[{\"type\": \"function\", \"function\": {\"name\": \"point\"}}]")
                    .toolChoice("\"auto\""));

    {
      setUp(
              oneShot.injectOpen(atOnceUsers(3)),
              ownAnswers.injectOpen(atOnceUsers(1)),
              recordedAnswers.injectOpen(atOnceUsers(1)),
              full.injectOpen(atOnceUsers(2)),
              failing.injectOpen(atOnceUsers(1)),
              images.injectOpen(atOnceUsers(2)))
          .disablePauses()
          .protocols(llm.baseUrl(System.getProperty("url") + "/v1").disableIgnoreEos());
    }
  }
}
