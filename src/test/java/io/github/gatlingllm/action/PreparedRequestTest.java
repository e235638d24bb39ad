package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gatling.core.session.Session;
import io.github.gatlingllm.action.LlmRequest.MessagePart;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.Api.AddedField;
import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.javaapi.LlmDsl;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.workload.Conversation;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.LengthDistribution.Draw;
import io.github.gatlingllm.workload.PromptPrefix;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import scala.jdk.javaapi.CollectionConverters;

class PreparedRequestTest {

  private static final LlmProtocolBuilder PROTOCOL =
      LlmDsl.llm.baseUrl("http://a/v1", "http://b/v1").model("m");
  private static final LlmRequest CHAT = new LlmRequest(Dynamic.of("ask"), Api.CHAT);
  private static final Session SESSION = Sessions.with(Map.of());

  @Test
  void historyIsSentFirstAndOnlyNewMessagesWithoutAPrefixJoinIt() throws IOException {
    Conversation before =
        Conversation.of(Message.system("Tutor."))
            .answered(List.of(Message.user("1?")), Message.assistant("One."), 0, 0);
    PreparedRequest prepared =
        prepare(
            CHAT.and(MessagePart.history("history")).and(text("user", "2?")),
            numbered(),
            Sessions.with(Map.of("history", before)));

    assertThat(body(prepared).path("messages").findValuesAsText("content"))
        .containsExactly("<0> Tutor.", "1?", "One.", "2?");
    assertThat(prepared.newMessages()).containsExactly(Message.user("2?"));
    assertThat(prepared.historyKey()).isEqualTo("history");
    assertThat(prepared.conversation()).isEqualTo(before.by(0));
  }

  @Test
  void prefixPrecedesTheFirstMessage() throws IOException {
    PreparedRequest.Prefixes prefixes = numbered();
    LlmRequest both = CHAT.and(text("system", "Be brief.")).and(text("user", "Why?"));

    assertThat(contents(both, prefixes, SESSION)).containsExactly("<0> Be brief.", "Why?");
    LlmRequest first = why(d -> {}).withHistory("history");
    assertThat(contents(first, prefixes, SESSION)).containsExactly("<1> Why?");
    assertThat(prepare(first, SESSION).conversation()).as("a conversation begins").isNotNull();
    LlmRequest completion =
        new LlmRequest(Dynamic.of("ask"), Api.COMPLETIONS).with(d -> d.prompt = Dynamic.of("Once"));
    assertThat(body(prepare(completion, prefixes, SESSION)).path("prompt").asText())
        .isEqualTo("<2> Once");
    LlmRequest parts =
        CHAT.and(
            MessagePart.all(
                Dynamic.of(
                    "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Why?\"}]}]")));
    assertThat(body(prepare(parts, prefixes, SESSION)).at("/messages/0/content"))
        .hasToString(
            "[{\"type\":\"text\",\"text\":\"<3> \"},{\"type\":\"text\",\"text\":\"Why?\"}]");
  }

  @Test
  void whatARequestDrawsNumbersItAndNoOther() throws IOException {
    DrawOrder order = new DrawOrder(new InjectorShare(1, 1));
    LlmRequest drawing =
        CHAT.and(
            MessagePart.text(
                "user", Dynamic.of(session -> "" + order.next(null, session.<Draw>get(Draw.KEY)))));
    PreparedRequest.Prefixes prefixes = numbered();
    for (long index = 0; index < 3; index++) {
      assertThat(contents(drawing, prefixes, SESSION))
          .containsExactly("<%s> %s".formatted(order.fed(index), index));
    }
    assertThat(contents(why(d -> {}), prefixes, SESSION)).containsExactly("<0> Why?");
  }

  private static PreparedRequest.Prefixes prefixes(PromptPrefix.Texts texts) {
    InjectorShare all = new InjectorShare(1, 1);
    return new PreparedRequest.Prefixes(texts, all, new DrawOrder(all), 0);
  }

  private static PreparedRequest.Prefixes numbered() {
    return prefixes(request -> "<" + request + "> ");
  }

  private static List<String> contents(
      LlmRequest request, PreparedRequest.Prefixes prefixes, Session session) throws IOException {
    return body(prepare(request, prefixes, session)).path("messages").findValuesAsText("content");
  }

  private static PreparedRequest prepare(
      LlmRequest request, PreparedRequest.Prefixes prefixes, Session session) {
    return PreparedRequest.of(request, PROTOCOL.protocol(), Set.of(), prefixes, session);
  }

  @Test
  void injectorsDrawTheModelsOfTheirDialogsApart() throws IOException {
    assertThat(modelsOfDialogs(1)).isNotEqualTo(modelsOfDialogs(2)).contains("a", "b");
  }

  private static List<String> modelsOfDialogs(int injector) throws IOException {
    InjectorShare share = new InjectorShare(injector, 2);
    PreparedRequest.Prefixes prefixes =
        new PreparedRequest.Prefixes(request -> "", share, new DrawOrder(share), 0);
    List<String> models = new ArrayList<>();
    for (int dialog = 0; dialog < 64; dialog++) {
      models.add(model(turn(prefixes, Map.of("history", Conversation.of()))));
    }
    return models;
  }

  @Test
  void drawnOutputLengthsArePinnedAndFollowSeedAndNumber() throws IOException {
    List<Integer> lengths = outputLengths(1, 0);
    assertThat(lengths).hasSize(200).contains(5, 6, 7, 8, 9).isSubsetOf(5, 6, 7, 8, 9);
    assertThat(outputLengths(1, 0)).isEqualTo(lengths);
    assertThat(outputLengths(2, 0)).isNotEqualTo(lengths);
    assertThat(outputLengths(1, 1L << 60)).as("of warm-up requests").containsOnly(7);
  }

  private static List<Integer> outputLengths(long seed, long from) throws IOException {
    InjectorShare all = new InjectorShare(1, 1);
    PreparedRequest.Prefixes prefixes =
        new PreparedRequest.Prefixes(request -> "", all, new DrawOrder(all), from);
    LengthDistribution uniform = LlmDsl.uniformTokens(5, 9);
    LlmRequest ask =
        CHAT.and(text("user", "?"))
            .with(
                draft ->
                    draft.maxTokens =
                        Dynamic.of(session -> session.<Draw>get(Draw.KEY).of(uniform)));
    LlmProtocol protocol = LlmDsl.llm.baseUrl("http://a/v1").seed(seed).protocol();
    List<Integer> lengths = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      JsonNode body = body(PreparedRequest.of(ask, protocol, Set.of(), prefixes, SESSION));
      assertThat(body.path("min_tokens")).isEqualTo(body.path("max_tokens"));
      lengths.add(body.path("max_tokens").asInt());
    }
    return lengths;
  }

  /** Whichever begins first, as users of a closed loop run side by side. */
  @Test
  void aDialogKeepsTheModelOfTheNumberThatItWasDrawnBy() throws IOException {
    List<String> models = new ArrayList<>();
    for (long number = 1; number <= 64; number++) {
      AtomicLong drawn = new AtomicLong(number);
      PreparedRequest first =
          turn(numbered(), Map.of("history", Conversation.of(), DrawOrder.KEY, drawn));
      Conversation answered =
          first.conversation().answered(first.newMessages(), Message.assistant("!"), 0, 0);
      models.add(model(first));
      assertThat(model(turn(numbered(), Map.of("history", answered, DrawOrder.KEY, drawn))))
          .isEqualTo(model(first));
    }
    assertThat(models).contains("a", "b");
    AtomicLong last = new AtomicLong(64);
    assertThat(model(turn(numbered(), Map.of("history", Conversation.of(), DrawOrder.KEY, last))))
        .as("begun in another order")
        .isEqualTo(models.get(63));
  }

  private static PreparedRequest turn(
      PreparedRequest.Prefixes prefixes, Map<String, Object> attributes) {
    LlmProtocolBuilder mix = LlmDsl.llm.baseUrl("http://a/v1").seed(1).model("a", 1).model("b", 1);
    LlmRequest turn = CHAT.and(MessagePart.history("history")).and(text("user", "?"));
    return PreparedRequest.of(turn, mix.protocol(), Set.of(), prefixes, Sessions.with(attributes));
  }

  private static String model(PreparedRequest prepared) throws IOException {
    return body(prepared).path("model").asText();
  }

  @Test
  void chatWithoutMessagesAndAttributeOfAnotherTypeAreRefused() {
    assertThatThrownBy(() -> prepare(CHAT, SESSION)).hasMessageContaining("no messages");
    assertThatThrownBy(
            () ->
                prepare(
                    CHAT.and(MessagePart.history("history")),
                    Sessions.with(Map.of("history", "text"))))
        .hasMessage(
            "session attribute 'history' is not a conversation; start one:"
                + " conversation(\"history\")");
  }

  @Test
  void messagesMayBeJsonOrListsOfMaps() throws IOException {
    String json = "[{\"role\":\"user\",\"content\":\"Why?\"}]";
    Object java = List.of(Map.of("content", "Why?"));
    Object fed =
        CollectionConverters.asScala(
            List.of(CollectionConverters.asScala(Map.of("content", "Why?"))));

    for (Object messages : List.of(json, java, fed)) {
      PreparedRequest prepared =
          prepare(
              CHAT.and(MessagePart.all(Dynamic.el("#{messages}", Object.class))),
              Sessions.with(Map.of("messages", messages)));
      assertThat(body(prepared).at("/messages/0/content").asText()).isEqualTo("Why?");
    }
  }

  @ParameterizedTest
  @CsvSource({"true, 128, 128", "true, , ", "false, 128, ", "false, , "})
  void outputIsPinnedWhereALimitIsSet(boolean pinned, Integer maxTokens, Integer minTokens)
      throws IOException {
    LlmRequest request = why(d -> d.maxTokens = maxTokens == null ? null : Dynamic.of(maxTokens));
    JsonNode body =
        body(prepare(request, PROTOCOL, pinned ? Set.of() : Set.of(AddedField.PINNING), SESSION));

    assertThat(body.path("ignore_eos").asBoolean()).isEqualTo(minTokens != null);
    assertThat(body.has("min_tokens")).isEqualTo(minTokens != null);
    assertThat(body.path("min_tokens").asInt()).isEqualTo(minTokens == null ? 0 : minTokens);
  }

  @Test
  void requestWinsOverProtocol() throws IOException {
    LlmRequest request =
        why(
            draft -> {
              draft.model = Dynamic.of("other");
              draft.stream = Dynamic.of(true);
            });
    LlmProtocolBuilder protocol = PROTOCOL.disableStreaming().disableUsage();

    assertThat(body(prepare(request, protocol, SESSION)).path("model").asText()).isEqualTo("other");
    assertThat(body(prepare(request, protocol, SESSION)).path("stream").asBoolean()).isTrue();
    assertThat(body(prepare(request, protocol, SESSION)).has("stream_options")).isFalse();
    assertThat(body(prepare(why(d -> {}), protocol, SESSION)).path("stream").asBoolean()).isFalse();
    assertThat(body(prepare(why(d -> {}), PROTOCOL, SESSION)).has("stream_options")).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "http://a/v1, http://a/v1/chat/completions",
    "http://a/v1/chat/completions, http://a/v1/chat/completions",
    "http://a/v1/completions, http://a/v1/completions",
  })
  void baseUrlMayBeAFullPath(String baseUrl, String url) {
    assertThat(prepare(why(d -> {}), LlmDsl.llm.baseUrl(baseUrl), SESSION).url()).isEqualTo(url);
  }

  private static LlmRequest why(Consumer<LlmRequest> more) {
    return CHAT.and(text("user", "Why?")).with(more);
  }

  private static MessagePart text(String role, String text) {
    return MessagePart.text(role, Dynamic.of(text));
  }

  private static PreparedRequest prepare(LlmRequest request, Session session) {
    return prepare(request, PROTOCOL, session);
  }

  private static PreparedRequest prepare(
      LlmRequest request, LlmProtocolBuilder protocol, Session session) {
    return prepare(request, protocol, Set.of(), session);
  }

  private static PreparedRequest prepare(
      LlmRequest request, LlmProtocolBuilder protocol, Set<AddedField> rejected, Session session) {
    return PreparedRequest.of(
        request, protocol.protocol(), rejected, prefixes(number -> ""), session);
  }

  private static JsonNode body(PreparedRequest prepared) throws IOException {
    return new ObjectMapper().readTree(prepared.body().toJson());
  }
}
