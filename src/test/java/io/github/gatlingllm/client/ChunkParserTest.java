package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChunkParserTest {

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      textBlock =
          """
          # P7: no token
          role only; {'role':'assistant'};
          content null; {'role':'assistant','content':null,'refusal':null};
          content empty; {'content':''};
          empty delta; {};
          delta null; null;
          tool calls null; {'tool_calls':null};
          tool calls empty; {'tool_calls':[]};
          # P8: reasoning
          content; {'content':'a'}; content[0] a
          reasoning; {'reasoning':'a'}; reasoning[0] a
          reasoning_content; {'reasoning_content':'a'}; reasoning[0] a
          both, equal; {'reasoning':'a','reasoning_content':'a'}; reasoning[0] a
          both, one null; {'reasoning':null,'reasoning_content':'a'}; reasoning[0] a
          both, one empty; {'reasoning':'','reasoning_content':'a'}; reasoning[0] a
          both, different; {'reasoning':'a','reasoning_content':'b'}; reasoning[0] a | reasoning[0] b
          reasoning and content; {'reasoning':'a','content':'b'}; reasoning[0] a | content[0] b
          # P9: refusals and tool calls
          refusal; {'content':null,'refusal':'no'}; refusal[0] no
          tool call; {'tool_calls':[{'index':0,'id':'c','type':'function','function':{'name':'f',\
          'arguments':''}}]}; tool_name[0] f
          two tool calls; {'tool_calls':[{'function':{'name':'f'}},{'function':{'name':'g',\
          'arguments':'{}'}}]}; tool_name[0] f | tool_name[0.1] g | tool_arguments[0.1] {}
          odd tool calls; {'tool_calls':[1,null,{'function':null},{'function':[]}]};
          # content as parts
          parts; {'content':[{'type':'text','text':'a'},{'type':'x'},{'text':'b'}]}; content[0] a | \
          content[0] b
          odd parts; {'content':[1,null,[],{'text':null}]};
          content of another kind; {'content':{'text':'a'}}; content[0] a
          """)
  void deltas(String name, String delta, @Nullable String pushes) {
    chunks(name, "{'choices':[{'index':0,'delta':" + delta + "}]}", pushes);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      textBlock =
          """
          no choices; {'choices':[],'prompt_filter_results':[{'x':{}}]};
          choices null; {'choices':null};
          prompt progress; {'choices':[{'delta':{}}],'prompt_progress':{'total':9}};
          # completions and complete messages
          text; {'choices':[{'text':'a','index':0}]}; content[0] a
          text empty; {'choices':[{'text':'','index':0}]};
          message; {'choices':[{'message':{'content':'a'}}]}; content[0] a
          delta wins over message; {'choices':[{'message':{'content':'ab'},\
          'delta':{'content':'b'}}]}; content[0] b
          delta wins over text; {'choices':[{'text':'b','delta':{'content':'b'}}]}; content[0] b
          # P10: usage
          usage null; {'choices':[],'usage':null};
          usage; {'choices':[],'usage':{'prompt_tokens':12,'completion_tokens':3,\
          'total_tokens':15}}; usage 12 3 -1 -1
          usage with details; {'usage':{'prompt_tokens':12,'completion_tokens':3,\
          'prompt_tokens_details':{'audio_tokens':0,'cached_tokens':8},\
          'completion_tokens_details':{'reasoning_tokens':2}}}; usage 12 3 8 2
          details null; {'usage':{'prompt_tokens':1,'prompt_tokens_details':null}}; usage 1 -1 -1 -1
          usage of zeros; {'usage':{'prompt_tokens':0,'completion_tokens':0}}; usage 0 0 -1 -1
          usage twice; {'usage':{'prompt_tokens':1},'x_groq':{'usage':{'prompt_tokens':2}}}; usage 1 \
          -1 -1 -1 | usage 2 -1 -1 -1
          usage in a choice; {'choices':[{'usage':{'prompt_tokens':1}}]}; usage 1 -1 -1 -1
          usage in the finish chunk; {'choices':[{'index':0,'delta':{},'finish_reason':'stop'}],\
          'usage':{'prompt_tokens':1,'completion_tokens':2}}; finish[0] stop | usage 1 2 -1 -1
          reasoning beside the counts; {'usage':{'completion_tokens':9,'reasoning_tokens':4,\
          'completion_tokens_details':null}}; usage -1 9 -1 4
          numbers as text; {'usage':{'prompt_tokens':'12','completion_tokens':'3.0',\
          'total_tokens':'x'}}; usage 12 3 -1 -1
          numbers of other kinds; {'usage':{'prompt_tokens':-1,'completion_tokens':1e1,\
          'prompt_tokens_details':{'cached_tokens':true},\
          'completion_tokens_details':{'reasoning_tokens':''}}}; usage -1 10 -1 -1
          Groq; {'x_groq':{'id':'r','usage':{'queue_time':0.25,'prompt_tokens':5,'prompt_time':0.5,\
          'completion_tokens':7,'completion_time':'1.5','total_time':2}}}; usage.queue_time 0.25 | \
          usage.prompt_time 0.5 | usage.completion_time 1.5 | usage.total_time 2.0 | usage 5 7 -1 -1
          llama.cpp; {'choices':[],'timings':{'cache_n':3,'prompt_n':7,'prompt_ms':12.5,\
          'prompt_per_token_ms':1,'predicted_n':2,'predicted_ms':1500}}; timings.cache_n 3.0 | \
          timings.prompt_n 7.0 | timings.prompt_ms 12.5 | timings.predicted_n 2.0 | \
          timings.predicted_ms 1500.0
          vLLM with per-request metrics; {'choices':[],'usage':{'completion_tokens':2},\
          'metrics':{'time_to_first_token_ms':17.5,'generation_time_ms':40,'queue_time_ms':3.25,\
          'mean_itl_ms':null,'tokens_per_second':25.0}}; usage -1 2 -1 -1 | \
          metrics.time_to_first_token_ms 17.5 | metrics.generation_time_ms 40.0 | \
          metrics.queue_time_ms 3.25
          # P11: several choices
          two choices; {'choices':[{'index':1,'delta':{'content':'b'}},{'index':0,\
          'delta':{'content':'a'}}]}; content[1] b | content[0] a
          index last; {'choices':[{'finish_reason':'stop','delta':{'content':'b'},'index':1}]}; \
          content[1] b | finish[1] stop
          index as text; {'choices':[{'index':'2','delta':{'content':'b'}}]}; content[2] b
          index null; {'choices':[{'index':null,'delta':{'content':'b'}}]}; content[0] b
          no index; {'choices':[{'delta':{'content':'b'}}]}; content[0] b
          # P12: done
          done; [DONE]; done
          # P14: errors
          error object; {'error':{'message':'bad\\nthing','code':500}}; error bad thing (500)
          error text; {'error':'bad'}; error bad
          error of an unknown form; {'error':{'code':500}}; error {\"code\":500}
          error null; {'error':null,'choices':[]};
          error empty; {'error':'','choices':[]};
          error empty object; {'error':{},'choices':[]};
          Groq's error; {'choices':[],'x_groq':{'id':'r','error':'bad'}}; error bad
          old vLLM error; {'object':'error','message':'bad','code':400}; error bad (400)
          detail text; {'detail':'Not Found'}; error Not Found
          detail list; {'detail':[{'loc':['body','n'],'msg':'too large'}]}; error too large (body.n)
          error after tokens; {'choices':[{'delta':{'content':'a'},'finish_reason':'error'}],\
          'error':{'code':502,'message':'lost'}}; content[0] a | finish[0] error | error lost (502)
          a message beside choices is none; {'message':'hi','choices':[]};
          Ollama's own API is no error; {'message':{'content':'a'},'done':false};
          # P21: finish reasons
          stop; {'choices':[{'finish_reason':'stop'}]}; finish[0] stop
          length; {'choices':[{'finish_reason':'length'}]}; finish[0] length
          filter; {'choices':[{'finish_reason':'content_filter'}]}; finish[0] content_filter
          tools; {'choices':[{'finish_reason':'tool_calls'}]}; finish[0] tool_calls
          own reason; {'choices':[{'finish_reason':'abort'}]}; finish[0] abort
          null reason; {'choices':[{'finish_reason':null}]};
          empty reason; {'choices':[{'finish_reason':''}]};
          # P22: what we do not know
          known names elsewhere; {'meta':{'choices':[{'delta':{'content':'x'}}],\
          'usage':{'prompt_tokens':1}},'choices':[{'logprobs':{'content':[{'token':'}]'}]},\
          'delta':{'content':'a'}}]}; content[0] a
          escaped key; {'choices':[{'delta':{'con\\u0074ent':'a'}}]}; content[0] a
          empty object; {};
          """)
  void chunks(String name, String json, @Nullable String pushes) {
    assertPushes(json.replace('\'', '"'), pushes == null ? new String[0] : pushes.split(" \\| "));
  }

  @Test
  void chunksWithSpecialCharacters() {
    assertPushes("");
    assertPushes(" \n");
    assertPushes(" [DONE] \n", "done");
    assertPushes(" { \"choices\" :\n[ {\t\"text\" : \"a\" } ] } ", "content[0] a");
    assertPushes("{\"choices\":[{\"text\":\"\\u00e9\\\\ \\/ \\t\"}]}", "content[0] é\\ / \t");
    assertPushes(
        "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"{\\\"x\"}}]}}]}",
        "tool_arguments[0] {\"x");
    // P20
    assertPushes(
        "{\"choices\":[{\"text\":\"a\u2028b\u2029c\u0085\"}]}", "content[0] a\u2028b\u2029c\u0085");
  }

  /** Three times: what a parser learned must not change what it pushes. */
  private static void assertPushes(String json, String... pushes) {
    Pushes pushed = new Pushes();
    ChunkParser parser = Api.CHAT.parser(pushed);
    for (int i = 0; i < 3; i++) {
      Pushes.event(parser, null, json);
      assertThat(pushed.take()).containsExactlyElementsOf(withEnd(List.of(pushes)));
    }
  }

  /** Chunks that nearly repeat the one before: a fresh parser pushes the same. */
  @Test
  void nearMisses() {
    String before = "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"";
    String after = "\"},\"finish_reason\":null}]}";
    String plain = before + "a" + after;
    List<String> chunks = new ArrayList<>();
    for (String text :
        List.of(
            "a",
            "b",
            "",
            "\\\"",
            "\\\\",
            "x\\\\\\\"y",
            "\"},\"usage\":{\"prompt_tokens\":1},\"x\":{\"a\":\"",
            "a\",\"refusal\":\"b",
            "a\"}}],\"usage\":{\"prompt_tokens\":1},\"y\":[{\"x\":{\"c\":\"b",
            "c")) {
      chunks.add(before + text + after);
    }
    for (String near :
        List.of(
            before + "a\\" + after,
            plain + "}",
            plain.replace("null", "\"stop\""),
            plain.replace('0', '1'),
            plain.replace("}]}", "}],\"usage\":{\"prompt_tokens\":1}}"),
            before + after.substring(1),
            plain + " ",
            " " + plain,
            plain.replace("content", "Content"))) {
      chunks.addAll(List.of(plain, near));
    }
    Pushes kept = new Pushes();
    ChunkParser parser = Api.CHAT.parser(kept);
    for (String chunk : chunks) {
      Pushes.event(parser, null, chunk);
      assertThat(kept.take()).as(chunk).isEqualTo(Pushes.ofData(chunk));
    }
  }

  @Test
  void cutChunkIsMalformed() {
    byte[] chunk =
        "{\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\\u00e9\"}}]}"
            .getBytes(UTF_8);
    for (int cut = 1; cut < chunk.length; cut++) {
      assertThat(Pushes.ofBody(Arrays.copyOf(chunk, cut)))
          .as("cut at %d", cut)
          .anyMatch(line -> line.startsWith("malformed"))
          .last()
          .isEqualTo("end");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      textBlock =
          """
          hello; no_object
          12; no_object
          null; no_object
          []; no_object
          [DONE]x; no_object
          [done]; no_object
          <html>; no_object
          {; cut
          {'a; cut
          {'a\\'; cut
          {'a':; cut
          {'a':tr; cut
          {'a':-; cut
          {'a':{'b':[1; cut
          {'choices':[{'delta':{}}; cut
          {a:1}; character
          {'a' 1}; character
          {'a':1 'b':2}; character
          {'a':1,}; character
          {'a':hello}; character
          {'a':nul1}; character
          {'choices':[,]}; character
          {} {}; more_than_json
          """)
  void malformedTable(String json, String why) {
    String data = json.replace('\'', '"');
    assertThat(Pushes.ofData(data)).containsExactly("malformed " + why, "end");
    assertThat(Pushes.ofBody(data.getBytes(UTF_8))).containsExactly("malformed " + why, "end");
  }

  @Test
  void errorEvents() {
    Pushes pushes = new Pushes();
    ChunkParser parser = Api.CHAT.parser(pushes);
    for (String data :
        List.of(
            "", "boom", "{\"error\":{\"message\":\"m\"}}", "{\"message\":\"n\"}", "{\"x\":1}")) {
      Pushes.event(parser, "error", data);
    }
    String both = "{\"choices\":[{\"text\":\"a\"}],\"message\":\"m\"}";
    Pushes.event(parser, "message", both);
    Pushes.event(parser, "error", both);
    assertThat(pushes.take())
        .containsExactly(
            "error error event without a message", "end",
            "error boom", "end",
            "error m", "end",
            "error n", "end",
            "error {\"x\":1}", "end",
            "content[0] a", "end",
            "error m", "end");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      textBlock =
          """
          chat completion; {'id':'x','choices':[{'index':0,'message':{'role':'assistant',\
          'content':'hi','reasoning_content':'hm','tool_calls':[{'function':{'name':'f',\
          'arguments':'{}'}}]},'finish_reason':'stop'}],'usage':{'prompt_tokens':1,\
          'completion_tokens':2}}; content[0] hi | reasoning[0] hm | tool_name[0] f | \
          tool_arguments[0] {} | finish[0] stop | usage 1 2 -1 -1
          completion; {'choices':[{'text':'hi','finish_reason':'length','index':0}]}; \
          content[0] hi | finish[0] length
          no tokens; {'choices':[{'message':{'content':''},'finish_reason':'stop'}]}; finish[0] stop
          error; {'error':{'message':'m','type':'t'}}; error m (t)
          FastAPI; {'detail':'Not Found'}; error Not Found
          """)
  void bodies(String name, String json, String pushes) {
    assertThat(Pushes.ofBody(json.replace('\'', '"').getBytes(UTF_8)))
        .containsExactlyElementsOf(withEnd(List.of(pushes.split(" \\| "))));
  }

  @Test
  void deepNestingNeedsNoStack() {
    int depth = 1_000_000;
    String deep = "[".repeat(depth) + "]".repeat(depth);
    assertThat(Pushes.ofData("{\"x\":" + deep + ",\"choices\":[{\"text\":\"a\"}]}"))
        .containsExactly("content[0] a", "end");
    assertThat(Pushes.ofData("{\"x\":" + "{\"a\":".repeat(depth)))
        .containsExactly("malformed cut", "end");
  }

  private static List<String> withEnd(List<String> pushes) {
    return Stream.concat(pushes.stream(), Stream.of("end")).toList();
  }
}
