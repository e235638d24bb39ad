package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Typed events and bodies of {@code responses} and {@code messages}; complete streams: wire/*.sse.
 */
class TypedEventParserTest {

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      textBlock =
          """
          responses; responses; {'id':'resp_1','object':'response','status':'completed','error':null,\
          'incomplete_details':null,'output':[{'type':'reasoning','id':'rs','summary':[\
          {'type':'summary_text','text':'hm'}]},{'id':'m','type':'message','role':'assistant',\
          'content':[{'type':'output_text','text':'hi','annotations':[]},\
          {'type':'refusal','refusal':'no'}]},{'type':'function_call','id':'fc','call_id':'c',\
          'name':'f','arguments':'{\\'a\\':1}'}],'usage':{'input_tokens':5,\
          'input_tokens_details':{'cached_tokens':2},'output_tokens':9,\
          'output_tokens_details':{'reasoning_tokens':3}}}; reasoning[0] hm | content[0] hi | \
          refusal[0] no | tool_name[0.2] f | tool_arguments[0.2] {"a":1} | usage 5 9 2 3 | \
          finish[0] completed
          responses, cut off; responses; {'object':'response','status':'incomplete',\
          'incomplete_details':{'reason':'max_output_tokens'},'output':[]}; \
          finish[0] max_output_tokens
          responses, failed; responses; {'object':'response','status':'failed',\
          'error':{'code':'x','message':'broke'}}; finish[0] failed | error broke (x)
          messages; messages; {'id':'msg_1','type':'message','role':'assistant','model':'m',\
          'content':[{'type':'thinking','thinking':'hm','signature':'s'},\
          {'type':'text','text':'hi'},{'type':'tool_use','id':'t','name':'f',\
          'input':{'a':'x\\\\y','b':[1]}}],'stop_reason':'tool_use','stop_sequence':null,\
          'usage':{'input_tokens':5,'cache_read_input_tokens':4,'cache_creation_input_tokens':2,\
          'output_tokens':9}}; reasoning[0] hm | content[0] hi | tool_name[0.2] f | \
          tool_arguments[0.2] {"a":"x\\\\y","b":[1]} | usage 11 9 4 -1 | finish[0] tool_use
          messages, an error; messages; {'type':'error',\
          'error':{'type':'overloaded_error','message':'Overloaded'}}; error Overloaded (overloaded_error)
          embeddings; embeddings; {'object':'list','data':[{'embedding':[0.1,-2e-3],'index':0},\
          {'index':1,'embedding':'AAAA'}],'usage':{'prompt_tokens':7,'total_tokens':7}}; \
          result 0 | result 1 | usage 7 -1 -1 -1
          """)
  void body(String name, String api, String json, String pushes) {
    assertThat(Pushes.ofBody(Api.of(api), json.replace('\'', '"').getBytes(UTF_8)))
        .isEqualTo(List.of((pushes + " | end").split(" \\| ")));
  }

  /** P6, P7, P12, P22: of these only the last states more than that an event ended. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      textBlock =
          """
          responses; [DONE]; end
          messages; [DONE]; end
          responses; {'type':'response.audio.delta','delta':'AAAA'}; end
          responses; {'type':'response.output_text.delta','delta':''}; end
          responses; {'type':'response.output_text.delta','delta':null}; end
          responses; {'type':'response.output_text.done','text':'all'}; content[0] all | end
          responses; {'type':'response.output_item.added','item':{'type':'message','content':[]}}; end
          responses; {'type':'response.queued','response':{'error':null}}; end
          messages; {'type':'ping'}; end
          messages; {'type':'content_block_delta','index':0,'delta':{'type':'signature_delta',\
          'signature':'abc'}}; end
          messages; {'type':'content_block_start','index':0,'content_block':{'type':'tool_result'}}; \
          end
          messages; {'type':'content_block_delta','delta':[1,{'text':'x'}]}; end
          messages; {'type':7,'delta':{'text':'x'},'index':'three'}; end
          responses; {'type':'response.failed','response':{'error':null}}; \
          error response.failed without a message | end
          """)
  void event(String api, String data, String pushes) {
    assertThat(Pushes.ofData(Api.of(api), data.replace('\'', '"')))
        .isEqualTo(List.of(pushes.split(" \\| ")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"responses", "messages"})
  void repeatedEventsAndNearMisses(String key) {
    Api api = Api.of(key);
    Random random = new Random(1);
    Pushes kept = new Pushes();
    ChunkParser parser = api.parser(kept);
    String[] texts = {"a", "", "\\\\", "\\\"", "x\",\"y\":\"z", "\\u00e9é", "} {", "x\\"};
    String[] numbers = {"1", "22", "333", "-4", "1.5", "null", "\"6\"", "01"};
    int deltas = 0;
    for (int i = 0; i < 2_000; i++) {
      String text = i % 3 == 0 ? texts[random.nextInt(texts.length)] : "t" + i;
      String number = i % 7 == 0 ? numbers[random.nextInt(numbers.length)] : Integer.toString(i);
      String event = event(api, i / 40 % 3, text, number, random.nextInt(9));
      List<String> expected = Pushes.ofData(api, event);
      Pushes.event(parser, null, event);
      assertThat(kept.take()).as(event).isEqualTo(expected);
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
