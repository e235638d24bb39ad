package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Typed events and bodies of {@code responses} and {@code messages}; whole streams: wire/*.sse. */
class TypedEventParserTest {

  static Stream<Arguments> bodies() {
    return Stream.of(
        arguments(
            "responses",
            Api.RESPONSES,
            "{'id':'resp_1','object':'response','status':'completed','error':null,"
                + "'incomplete_details':null,'output':["
                + "{'type':'reasoning','id':'rs','summary':[{'type':'summary_text','text':'hm'}]},"
                + "{'id':'m','type':'message','role':'assistant','content':["
                + "{'type':'output_text','text':'hi','annotations':[]},"
                + "{'type':'refusal','refusal':'no'}]},"
                + "{'type':'function_call','id':'fc','call_id':'c','name':'f',"
                + "'arguments':'{\\'a\\':1}'}],"
                + "'usage':{'input_tokens':5,'input_tokens_details':{'cached_tokens':2},"
                + "'output_tokens':9,'output_tokens_details':{'reasoning_tokens':3}}}",
            List.of(
                "reasoning[0] hm",
                "content[0] hi",
                "refusal[0] no",
                "tool_name[0.2] f",
                "tool_arguments[0.2] {\"a\":1}",
                "usage 5 9 2 3",
                "finish[0] completed")),
        arguments(
            "responses, cut off",
            Api.RESPONSES,
            "{'object':'response','status':'incomplete',"
                + "'incomplete_details':{'reason':'max_output_tokens'},'output':[]}",
            List.of("finish[0] max_output_tokens")),
        arguments(
            "responses, failed",
            Api.RESPONSES,
            "{'object':'response','status':'failed','error':{'code':'x','message':'broke'}}",
            List.of("finish[0] failed", "error broke")),
        arguments(
            "messages",
            Api.MESSAGES,
            "{'id':'msg_1','type':'message','role':'assistant','model':'m','content':["
                + "{'type':'thinking','thinking':'hm','signature':'s'},"
                + "{'type':'text','text':'hi'},"
                + "{'type':'tool_use','id':'t','name':'f','input':{'a':'x\\\\y','b':[1]}}],"
                + "'stop_reason':'tool_use','stop_sequence':null,"
                + "'usage':{'input_tokens':5,'cache_read_input_tokens':4,"
                + "'cache_creation_input_tokens':2,'output_tokens':9}}",
            List.of(
                "reasoning[0] hm",
                "content[0] hi",
                "tool_name[0.2] f",
                "tool_arguments[0.2] {\"a\":\"x\\\\y\",\"b\":[1]}",
                "usage 11 9 4 -1",
                "finish[0] tool_use")),
        arguments(
            "messages, an error",
            Api.MESSAGES,
            "{'type':'error','error':{'type':'overloaded_error','message':'Overloaded'}}",
            List.of("error Overloaded")),
        arguments(
            "embeddings",
            Api.EMBEDDINGS,
            "{'object':'list','data':[{'embedding':[0.1,-2e-3],'index':0},"
                + "{'index':1,'embedding':'AAAA'}],'usage':{'prompt_tokens':7,'total_tokens':7}}",
            List.of("embeddings 2", "usage 7 -1 -1 -1")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("bodies")
  void body(String name, Api api, String json, List<String> pushes) {
    assertThat(Pushes.ofBody(api, json.replace('\'', '"').getBytes(UTF_8)))
        .startsWith(pushes.toArray(String[]::new))
        .hasSize(pushes.size() + 1)
        .endsWith("end");
  }

  /** P6, P7, P12, P22: none of these is a token, an end or an error. */
  @ParameterizedTest
  @MethodSource("sayNothing")
  void ignoredEvents(Api api, String data) {
    Pushes pushes = new Pushes();
    byte[] bytes = data.replace('\'', '"').getBytes(UTF_8);
    ChunkParser.of(api, pushes).event(null, bytes, 0, bytes.length);
    assertThat(pushes.take()).containsExactly("end");
  }

  static Stream<Arguments> sayNothing() {
    return Stream.of(
        arguments(Api.RESPONSES, "[DONE]"),
        arguments(Api.MESSAGES, "[DONE]"),
        arguments(Api.RESPONSES, "{'type':'response.audio.delta','delta':'AAAA'}"),
        arguments(Api.RESPONSES, "{'type':'response.output_text.delta','delta':''}"),
        arguments(Api.RESPONSES, "{'type':'response.output_text.delta','delta':null}"),
        arguments(Api.RESPONSES, "{'type':'response.output_text.done','text':'all'}"),
        arguments(
            Api.RESPONSES,
            "{'type':'response.output_item.added','item':{'type':'message','content':[]}}"),
        arguments(Api.RESPONSES, "{'type':'response.queued','response':{'error':null}}"),
        arguments(Api.MESSAGES, "{'type':'ping'}"),
        arguments(
            Api.MESSAGES,
            "{'type':'content_block_delta','index':0,'delta':{'type':'signature_delta',"
                + "'signature':'abc'}}"),
        arguments(
            Api.MESSAGES,
            "{'type':'content_block_start','index':0,'content_block':{'type':'tool_result'}}"),
        arguments(Api.MESSAGES, "{'type':'content_block_delta','delta':[1,{'text':'x'}]}"),
        arguments(Api.MESSAGES, "{'type':7,'delta':{'text':'x'},'index':'three'}"));
  }

  @Test
  void failedWithoutAMessageIsAnError() {
    Pushes pushes = new Pushes();
    byte[] bytes = "{\"type\":\"response.failed\",\"response\":{\"error\":null}}".getBytes(UTF_8);
    ChunkParser.of(Api.RESPONSES, pushes).event(null, bytes, 0, bytes.length);
    assertThat(pushes.take()).containsExactly("error response.failed without a message", "end");
  }

  /** A parser that knows the event before says the same as one that knows nothing. */
  @ParameterizedTest
  @EnumSource(
      value = Api.class,
      names = {"RESPONSES", "MESSAGES"})
  void repeatedEventsAndNearMisses(Api api) {
    Random random = new Random(1);
    Pushes kept = new Pushes();
    ChunkParser parser = ChunkParser.of(api, kept);
    String[] texts = {"a", "", "\\\\", "\\\"", "x\",\"y\":\"z", "\\u00e9é", "} {", "x\\"};
    String[] numbers = {"1", "22", "333", "-4", "1.5", "null", "\"6\"", "01"};
    int deltas = 0;
    for (int i = 0; i < 2_000; i++) {
      String text = i % 3 == 0 ? texts[random.nextInt(texts.length)] : "t" + i;
      String number = i % 7 == 0 ? numbers[random.nextInt(numbers.length)] : Integer.toString(i);
      byte[] event = event(api, i / 40 % 3, text, number, random.nextInt(9)).getBytes(UTF_8);
      Pushes once = new Pushes();
      ChunkParser.of(api, once).event(null, event, 0, event.length);
      parser.event(null, event, 0, event.length);
      List<String> expected = once.take();
      assertThat(kept.take()).as(new String(event, UTF_8)).isEqualTo(expected);
      deltas += expected.size() > 1 ? 1 : 0;
    }
    assertThat(deltas).isGreaterThan(1_500);
  }

  private static String event(Api api, int kind, String text, String number, int padding) {
    if (api == Api.RESPONSES && kind == 1) {
      return "{'delta':'%s','output_index':1,'sequence_number':%s,'type':'response.reasoning_text.delta'}"
          .replace('\'', '"')
          .formatted(text, number);
    }
    if (api == Api.RESPONSES) {
      String type = kind == 0 ? "output_text" : "function_call_arguments";
      return ("{'type':'response.%s.delta','sequence_number':%s,'output_index':1,'delta':'%s',"
              + "'obfuscation':'%s'}")
          .replace('\'', '"')
          .formatted(type, number, text, "x".repeat(padding));
    }
    String delta =
        List.of(
                "'text_delta','text'",
                "'thinking_delta','thinking'",
                "'input_json_delta','partial_json'")
            .get(kind)
            .replace('\'', '"');
    return "{\"type\":\"content_block_delta\",\"index\":%s,\"delta\":{\"type\":%s:\"%s\"}}"
        .formatted(padding < 2 ? number : "1", delta, text);
  }
}
