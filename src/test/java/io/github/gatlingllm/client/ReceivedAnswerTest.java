package io.github.gatlingllm.client;

import static io.github.gatlingllm.testing.ChatChunks.choice;
import static io.github.gatlingllm.testing.ChatChunks.content;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.Timeline;
import io.github.gatlingllm.testing.ChatChunks;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class ReceivedAnswerTest {

  private static final GenerationRequest REQUEST =
      GenerationRequest.of(Api.CHAT).message(Message.user("8 chars.")).maxTokens(64).build();

  private final Timeline timeline = new Timeline(0, 0);
  private final ReceivedAnswer answer = new ReceivedAnswer(timeline, REQUEST);
  private final ResponseBody stream = ResponseBody.ofEvents(answer);

  ReceivedAnswerTest() {
    timeline.admitted(0);
  }

  @Test
  void reasoningIsApartFromTheText() {
    event(1, ChatChunks.reasoning("hm"));
    event(2, content("a"));
    assertThat(answer.text()).isEqualTo("a");
    assertThat(answer.reasoning()).isEqualTo("hm");
    assertThat(answer.generated()).isEqualTo("hma");
  }

  /** Deltas of tool calls as servers send them, and the calls they make: id, name, arguments. */
  static Stream<Arguments> toolCalls() {
    return Stream.of(
        calls(
            "OpenAI: two calls together, mixed",
            "a f { } | b g {}",
            tool("'index':0,'id':'a'", "'name':'f','arguments':''"),
            tool("'index':0", "'arguments':'{'"),
            tool("'index':1,'id':'b'", "'name':'g','arguments':''"),
            tool("'index':1", "'arguments':'{'"),
            tool("'index':0", "'arguments':' }'"),
            tool("'index':1", "'arguments':'}'")),
        calls(
            "Gemini: complete calls, all of index 0",
            "a f {} | b f {}",
            tool("'index':0,'id':'a'", "'name':'f','arguments':'{}'"),
            tool("'index':0,'id':'b'", "'name':'f','arguments':'{}'")),
        calls(
            "early vLLM: another id with each delta",
            "a f {}",
            tool("'index':0,'id':'a'", "'name':'f'"),
            tool("'index':0,'id':'b'", "'arguments':'{'"),
            tool("'index':0,'id':'c'", "'arguments':'}'")),
        calls(
            "the name with each delta",
            "a f {}",
            tool("'id':'a'", "'name':'f','arguments':'{'"),
            tool("'id':'a'", "'name':'f','arguments':'}'")),
        calls(
            "neither index nor id",
            "call_0 f {} | call_1 g { }",
            "{'tool_calls':[{'function':{'name':'f','arguments':'{}'}},"
                + "{'function':{'name':'g','arguments':'{ }'}}]}"),
        calls("none", "", "{'content':'a'}"));
  }

  private static Arguments calls(String name, String calls, String... deltas) {
    return Arguments.of(name, calls, List.of(deltas));
  }

  private static String tool(String about, String function) {
    return "{'tool_calls':[{" + about + ",'function':{" + function + "}}]}";
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("toolCalls")
  void toolCallsAreJoined(String name, String calls, List<String> deltas) {
    deltas.forEach(delta -> event(1, ChatChunks.chunk(delta.replace('\'', '"'), "null")));

    assertThat(
            answer.toolCalls().stream()
                .map(call -> call.id() + " " + call.name() + " " + call.arguments())
                .collect(joining(" | ")))
        .isEqualTo(calls);
  }

  @Test
  void severalChoicesEndWhenEachHasItsFinishReason() {
    ReceivedAnswer two =
        new ReceivedAnswer(
            timeline, GenerationRequest.of(Api.CHAT).prompt("Hi").parameter("n", 2).build());
    ResponseBody ofTwo = ResponseBody.ofEvents(two);
    event(ofTwo, 1, choice(0, "a", "null"));
    event(ofTwo, 2, choice(1, "x", "null"));
    event(ofTwo, 3, choice(1, "y", "\"length\""));
    assertThat(two.isOver()).isFalse();
    assertThat(two.isSettled()).isFalse();
    event(ofTwo, 4, choice(0, "b", "\"stop\""));
    assertThat(two.isOver()).isTrue();
    assertThat(two.isSettled()).isTrue();
    assertThat(two.finishReason()).isEqualTo("stop");
    assertThat(two.text()).isEqualTo("ab");
    assertThat(two.generated()).isEqualTo("abxy");
    assertThat(timeline.events(true).choices()).containsExactly(0, 1, 1, 0);
  }

  @Test
  void lastEventWithoutBlankLineHasTheTimestampOfItsLastBytes() {
    byte[] bytes = ("data: " + content("a") + "\n").getBytes(UTF_8);
    stream.bytes(3, bytes, 0, 40);
    stream.bytes(7, bytes, 40, bytes.length - 40);
    assertThat(answer.hasTokens()).isFalse();
    stream.end(7, false);
    assertThat(answer.text()).isEqualTo("a");
    assertThat(timeline.timing(0, null, null).ttftNanos()).isEqualTo(7);
  }

  @Test
  void hugeChoiceIndexIsRejected() {
    event(1, choice(2_000_000_000, "a", "\"stop\""));
    event(2, choice(Integer.MAX_VALUE, "", "\"stop\""));
    assertThat(answer.malformed()).isEqualTo(Sentence.text("malformed", "index", 1_024));
    assertThat(answer.hasTokens()).isFalse();
    event(3, choice(1_023, "b", "null"));
    assertThat(answer.generated()).isEqualTo("b");
  }

  @Test
  void timingThatIsNotANumberIsIgnored() {
    answer.timings().add("usage.queue_time", Double.NaN);
    answer.timings().add("usage.prompt_time", Double.POSITIVE_INFINITY);
    answer.timings().add("usage.completion_time", -1);
    answer.timings().add("timings.prompt_ms", 86_400_001);
    answer.timings().add("timings.prompt_n", 16_777_217);
    assertThat(answer.server()).isEqualTo(ServerReport.NONE);
    answer.timings().add("usage.queue_time", 0.25);
    assertThat(answer.server().timings()).containsExactly(Map.entry("queue_s", 0.25));
    assertThat(answer.server().names()).containsExactly("usage.queue_time");
  }

  /** The first id of the body, else the header's, in one line without secrets. */
  @Test
  void idOfTheBodyComesBeforeThatOfTheHeader() {
    DefaultHttpHeaders headers = new DefaultHttpHeaders();
    headers.set("X-Request-Id", "req-1");
    answer.timings().headers(headers, Secrets.of(List.of("sk-very-secret")));
    assertThat(answer.server().answerId()).isEqualTo("req-1");
    event(1, "{\"id\":\"\",\"choices\":[]}");
    event(1, "{\"id\":\"chatcmpl\\n-sk-very-secret\",\"choices\":[]}");
    event(2, "{\"id\":\"other\",\"choices\":[]}");
    assertThat(answer.server().answerId()).isEqualTo("chatcmpl -***");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "chat | {'id':'chatcmpl-1','choices':[{'index':0,'delta':{'content':'a'}}]} | chatcmpl-1",
        "completions | {'choices':[{'index':0,'text':'a'}],'id':'cmpl-1'} | cmpl-1",
        "responses | {'type':'response.created','response':{'id':'resp_1'}} | resp_1",
        "messages | {'type':'message_start','message':{'id':'msg_1'}} | msg_1",
        "responses | {'type':'response.output_item.added','item':{'id':'item_1'}} |",
        "chat | {'id':7,'choices':[]} |",
        "chat | {'choices':[]} |",
        "embeddings | {'id':'embd-1','data':[]} | embd-1",
        "rerank | {'id':'rerank-1','results':[]} | rerank-1"
      })
  void idOfTheAnswerIsThatOfTheApi(String api, String event, @Nullable String id) {
    Pushes pushed = new Pushes();
    Pushes.event(Api.of(api).parser(pushed), null, event.replace('\'', '"'));
    assertThat(pushed.ids).isEqualTo(id == null ? List.of() : List.of(id));
  }

  @Test
  void timingInTheBodyOverridesTheHeader() {
    answer.timings().add("x-queue-time", 12);
    answer.timings().add("server-timing.db", 53.2);
    answer.timings().add("metrics.queue_time_ms", 9.5);
    assertThat(answer.server().timings()).isEqualTo(Map.of("queue_s", 0.0095, "db_s", 0.0532));
    assertThat(answer.server().names())
        .containsExactly("metrics.queue_time_ms", "server-timing.db");
  }

  @Test
  void theFirstErrorIsKept() {
    event(1, ChatChunks.error("first"));
    event(2, ChatChunks.error("second"));
    assertThat(answer.error()).isEqualTo("first");
  }

  @Test
  void countsComeFromUsageThenTokenizerThenEvents() {
    event(1, content("a"));
    event(2, content("b"));
    assertThat(answer.needsTokenizer()).isTrue();
    assertThat(answer.tokensByTokenizer(String::length))
        .isEqualTo(tokens(null, 2, 2, TokenSource.TOKENIZER));
    assertThat(answer.tokensByTokenizer(ReceivedAnswerTest::broken))
        .isEqualTo(tokens(null, 2, null, TokenSource.CHUNKS));
    assertThat(answer.tokens()).isEqualTo(tokens(null, null, null, null));

    event(3, ChatChunks.usage(9, 3));
    assertThat(answer.needsTokenizer()).isFalse();
    assertThat(answer.tokens()).isEqualTo(tokens(9, 3, null, TokenSource.USAGE));
  }

  private static Tokens tokens(
      @Nullable Integer prompt,
      @Nullable Integer output,
      @Nullable Integer local,
      @Nullable TokenSource source) {
    boolean estimated = source == TokenSource.TOKENIZER || source == TokenSource.CHUNKS;
    return new Tokens(
        8, prompt, null, null, null, 64, output, local, null, output, estimated, source, List.of(),
        null);
  }

  @Test
  void billedReasoningThatWasNotStreamedIsNotInN() {
    String usage =
        "{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":40,"
            + "\"completion_tokens_details\":{\"reasoning_tokens\":32}}}";
    event(1, content("a"));
    event(2, usage);
    assertThat(answer.tokens().streamedTokens()).isEqualTo(8);
    assertThat(answer.tokens().outputTokens()).isEqualTo(40);

    event(3, ChatChunks.reasoning("hm"));
    assertThat(answer.tokens().streamedTokens()).isEqualTo(40);
  }

  @Test
  void failedTokenizerGivesNoCountForABodyThatIsNotStreamed() {
    byte[] body = ChatChunks.body("abc").getBytes(UTF_8);
    answer.body(body, body.length);
    assertThat(answer.text()).isEqualTo("abc");
    assertThat(answer.tokensByTokenizer(String::length).outputTokens()).isEqualTo(3);
    Tokens tokens = answer.tokensByTokenizer(ReceivedAnswerTest::broken);
    assertThat(tokens.outputTokens()).isNull();
    assertThat(tokens.source()).isNull();
  }

  private static int broken(String text) {
    throw new IllegalStateException("cannot count " + text);
  }

  private void event(long instant, String json) {
    event(stream, instant, json);
  }

  private static void event(ResponseBody stream, long instant, String json) {
    byte[] bytes = ("data: " + json + "\n\n").getBytes(UTF_8);
    stream.bytes(instant, bytes, 0, bytes.length);
  }
}
