package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.Timeline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What servers send in other fields, count in other words or at other times, and what each figure
 * must be. Time passes only as the table says.
 */
class TokensOfAnswersTest {

  private static final long MS = 1_000_000;

  /**
   * A row is a name, the API, and what must be: TTFT, TTFO and TPOT in ms, output tokens, N, cached
   * tokens, refused counts; then lines of the stream, each after the time at which it comes, {@code
   * t0+20*3} for three that come every 20 ms from t0 on.
   */
  private static final String TABLE =
      """
      = magistral: lists of thinking | chat | 20 60 20 4 4 - -
      20+20*2 {'choices':[{'delta':{'content':[{'type':'thinking','thinking':[{'type':'text','text':'a'}]}]}}]}
      60+20*2 {'choices':[{'delta':{'content':'b'}}]}
      81 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':4}}
      = custom tool calls | chat | 20 20 20 3 3 - -
      20 {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'c','type':'custom','custom':{'name':'f','input':''}}]}}]}
      40+20*2 {'choices':[{'delta':{'tool_calls':[{'index':0,'custom':{'input':'x'}}]}}]}
      61 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':3}}
      = an old function call | chat | 20 20 20 2 2 - -
      20 {'choices':[{'delta':{'function_call':{'name':'f'}}}]}
      40 {'choices':[{'delta':{'function_call':{'arguments':'{}'}}}]}
      41 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':2}}
      = words of sound | chat | 20 20 20 2 2 - -
      20+20*2 {'choices':[{'delta':{'audio':{'transcript':'a','data':'AAAA'}}}]}
      41 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':2}}
      = reasoning in two fields | chat | 20 40 20 2 2 - -
      20 {'choices':[{'delta':{'reasoning':'a','reasoning_details':[{'type':'reasoning.text','text':'a'}]}}]}
      40 {'choices':[{'delta':{'content':'b'}}]}
      41 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':2}}
      = a field that is not known | chat | 20 20 20 2 2 - - draft
      20+20*2 {'choices':[{'delta':{'draft':'a'}}]}
      41 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':2}}
      = only the final message has text | chat | 40 40 - 2 2 - -
      40 {'choices':[{'delta':{},'message':{'content':'a b'},'finish_reason':'stop'}]}
      41 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':2}}
      = responses: text at its end only | responses | 1000 1000 - 7 7 - -
      0 {'type':'response.created','response':{'status':'in_progress'}}
      1000 {'type':'response.output_text.done','output_index':0,'text':'all of it'}
      1001 {'type':'response.completed','response':{'status':'completed','output':[{'type':'message','content':[{'type':'output_text','text':'all of it'}]}],'usage':{'input_tokens':3,'output_tokens':7}}}
      = responses: a call at its end only | responses | 1000 1000 - 7 7 - -
      1000 {'type':'response.output_item.done','output_index':0,'item':{'type':'function_call','call_id':'c','name':'f','arguments':'{}'}}
      1001 {'type':'response.completed','response':{'status':'completed','output':[{'type':'function_call','call_id':'c','name':'f','arguments':'{}'}],'usage':{'input_tokens':3,'output_tokens':7}}}
      = responses: in the last event only | responses | 30 30 - 7 7 - -
      30 {'type':'response.completed','response':{'status':'completed','output':[{'type':'message','content':[{'type':'output_text','text':'all'}]}],'usage':{'input_tokens':3,'output_tokens':7}}}
      = responses: pieces, then the same again | responses | 20 20 20 2 2 - -
      20+20*2 {'type':'response.output_text.delta','output_index':1,'delta':'a'}
      41 {'type':'response.output_text.done','output_index':1,'text':'aa'}
      42 {'type':'response.completed','response':{'status':'completed','output':[{'type':'message','content':[{'type':'output_text','text':'aa'}]}],'usage':{'input_tokens':3,'output_tokens':2}}}
      = responses: a refusal at its end | responses | 20 20 - 2 2 - -
      20 {'type':'response.refusal.done','output_index':0,'refusal':'no'}
      21 {'type':'response.completed','response':{'status':'completed','usage':{'input_tokens':3,'output_tokens':2}}}
      = messages: counts at the end | messages | 20 20 20 2 2 1000 -
      0 {'type':'message_start','message':{'usage':{'input_tokens':0,'output_tokens':1}}}
      20+20*2 {'type':'content_block_delta','index':0,'delta':{'type':'text_delta','text':'a'}}
      41 {'type':'message_delta','delta':{'stop_reason':'end_turn'},'usage':{'input_tokens':200,'cache_read_input_tokens':1000,'output_tokens':2}}
      = xAI: reasoning beside the output, hidden | chat | 3000 3000 10 319 2 - -
      3000+10*2 {'choices':[{'delta':{'content':'a'}}]}
      3011 {'choices':[],'usage':{'prompt_tokens':12,'completion_tokens':2,'total_tokens':331,'completion_tokens_details':{'reasoning_tokens':317}}}
      = xAI: the same, streamed | chat | 10 3180 10 319 319 - -
      10+10*317 {'choices':[{'delta':{'reasoning_content':'r'}}]}
      3180+10*2 {'choices':[{'delta':{'content':'a'}}]}
      3191 {'choices':[],'usage':{'prompt_tokens':12,'completion_tokens':2,'total_tokens':331,'completion_tokens_details':{'reasoning_tokens':317}}}
      = OpenAI: reasoning within the output | chat | 3000 3000 10 319 2 - -
      3000+10*2 {'choices':[{'delta':{'content':'a'}}]}
      3011 {'choices':[],'usage':{'prompt_tokens':12,'completion_tokens':319,'total_tokens':331,'completion_tokens_details':{'reasoning_tokens':317}}}
      = DeepSeek's cache | chat | 20 20 20 2 2 896 -
      20+20*2 {'choices':[{'delta':{'content':'a'}}]}
      41 {'choices':[],'usage':{'prompt_tokens':1000,'completion_tokens':2,'total_tokens':1002,'prompt_cache_hit_tokens':896,'prompt_cache_miss_tokens':104}}
      = cached beside the prompt | chat | 20 20 20 2 2 896 -
      20+20*2 {'choices':[{'delta':{'content':'a'}}]}
      41 {'choices':[],'usage':{'prompt_tokens':104,'completion_tokens':2,'total_tokens':1002,'cache_read_input_tokens':896}}
      = a total that nothing explains | chat | 20 20 20 2 2 - total_tokens
      20+20*2 {'choices':[{'delta':{'content':'a'}}]}
      41 {'choices':[],'usage':{'prompt_tokens':10,'completion_tokens':2,'total_tokens':20}}
      = more cached than there is | chat | 20 20 20 2 2 - cached_tokens
      20+20*2 {'choices':[{'delta':{'content':'a'}}]}
      41 {'choices':[],'usage':{'prompt_tokens':10,'completion_tokens':2,'prompt_tokens_details':{'cached_tokens':11}}}
      = more reasoning than output | chat | 20 20 20 2 2 - reasoning_tokens
      20+20*2 {'choices':[{'delta':{'content':'a'}}]}
      41 {'choices':[],'usage':{'prompt_tokens':10,'completion_tokens':2,'completion_tokens_details':{'reasoning_tokens':3}}}
      = less output than events | chat | 20 20 20 10 10 - completion_tokens
      20+20*10 {'choices':[{'delta':{'content':'a'}}]}
      201 {'choices':[],'usage':{'prompt_tokens':10,'completion_tokens':2}}
      = tokens without text, counted | chat | 1020 1020 20 15 15 - -
      20+20*5 {'choices':[{'delta':{'content':''}}],'usage':{'prompt_tokens':3,'completion_tokens':#}}
      1020+20*5 {'choices':[{'delta':{'content':'a'}}],'usage':{'prompt_tokens':3,'completion_tokens':#+5}}
      1200 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':15}}
      = silence, then counts | chat | 1020 1020 20 60 60 - -
      1020+20*5 {'choices':[{'delta':{'content':'a'}}],'usage':{'prompt_tokens':3,'completion_tokens':#+50}}
      1200 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':60}}
      = first event of 8, counted | chat | 20 20 20 10 10 - -
      20 {'choices':[{'delta':{'content':'a a a a a a a a'}}],'usage':{'prompt_tokens':3,'completion_tokens':8}}
      40+20*2 {'choices':[{'delta':{'content':'a'}}],'usage':{'prompt_tokens':3,'completion_tokens':#+8}}
      81 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':10}}
      = counts lag one event | chat | 20 20 20 10 10 - -
      20 {'choices':[{'delta':{'content':'a a a a a a a a'}}],'usage':{'prompt_tokens':3,'completion_tokens':0}}
      40+20*2 {'choices':[{'delta':{'content':'a'}}],'usage':{'prompt_tokens':3,'completion_tokens':#+7}}
      81 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':10}}
      = think tags | chat | 20 120 20 6 6 - -
      20 {'choices':[{'delta':{'content':'<think>'}}]}
      40+20*3 {'choices':[{'delta':{'content':'a '}}]}
      100 {'choices':[{'delta':{'content':'</think>'}}]}
      120 {'choices':[{'delta':{'content':'b'}}]}
      121 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':6}}
      = think tags, split and escaped | chat | 20 120 20 6 6 - -
      20 {'choices':[{'delta':{'content':'<th'}}]}
      40 {'choices':[{'delta':{'content':'ink>a'}}]}
      60 {'choices':[{'delta':{'content':'b\\u003c/thi'}}]}
      80 {'choices':[{'delta':{'content':'nk\\u003e'}}]}
      100 {'choices':[{'delta':{'content':'\\n\\n'}}]}
      120 {'choices':[{'delta':{'content':'c'}}]}
      121 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':6}}
      = no opening tag | chat | 20 80 20 4 4 - -
      20+20*2 {'choices':[{'delta':{'content':'a '}}]}
      60 {'choices':[{'delta':{'content':'</think>'}}]}
      80 {'choices':[{'delta':{'content':'b'}}]}
      81 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':4}}
      = another tag | chat | 20 20 20 3 3 - -
      20 {'choices':[{'delta':{'content':'<'}}]}
      40+20*2 {'choices':[{'delta':{'content':'html>'}}]}
      61 {'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':3}}
      """;

  /** Its lines come at these times, in ms. */
  private record Row(List<String> head, List<String> lines, List<Long> at) {
    @Override
    public String toString() {
      return head.get(0);
    }
  }

  static List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    for (String line : TABLE.lines().toList()) {
      if (line.startsWith("= ")) {
        rows.add(
            new Row(
                List.of(line.substring(2).split(" \\| ", -1)),
                new ArrayList<>(),
                new ArrayList<>()));
      } else {
        add(rows.get(rows.size() - 1), line.split(" ", 2)[0], line.split(" ", 2)[1]);
      }
    }
    return rows;
  }

  private static void add(Row row, String times, String json) {
    String[] every = times.split("[+*]", -1);
    long from = Long.parseLong(every[0]);
    long step = every.length == 1 ? 0 : Long.parseLong(every[1]);
    long count = every.length == 1 ? 1 : Long.parseLong(every[2]);
    for (int i = 0; i < count; i++) {
      row.at().add(from + i * step);
      row.lines().add(counted(json, i + 1).replace('\'', '"'));
    }
  }

  /** {@code #} is the number of the line from 1, {@code #+5} five more. */
  private static String counted(String json, int number) {
    int at = json.indexOf('#');
    if (at < 0) {
      return json;
    }
    int end = at + 1;
    while (json.charAt(end) == '+' || Character.isDigit(json.charAt(end))) {
      end++;
    }
    String more = json.substring(at + 1, end).replace("+", "");
    int value = number + (more.isEmpty() ? 0 : Integer.parseInt(more));
    return json.substring(0, at) + value + json.substring(end);
  }

  @ParameterizedTest
  @MethodSource("rows")
  void figures(Row row) {
    Api api = Api.valueOf(row.head().get(1).toUpperCase(Locale.ROOT));
    String[] expected = row.head().get(2).split(" ", -1);
    Timeline timeline = new Timeline(0, 0);
    timeline.admitted(0);
    ReceivedAnswer answer =
        new ReceivedAnswer(
            timeline, GenerationRequest.of(api).prompt("Hi").maxTokens(1_000).build());
    for (int i = 0; i < row.lines().size(); i++) {
      byte[] bytes = ("data: " + row.lines().get(i) + "\n\n").getBytes(UTF_8);
      answer.stream(row.at().get(i) * MS, bytes, 0, bytes.length);
    }
    answer.endOfStream();
    RequestRecord.Tokens tokens =
        answer.needsTokenizer() ? answer.tokensByEvents() : answer.tokens();
    RequestRecord.Timing timing = timeline.timing(0, null, tokens.streamedTokens());
    RequestRecord.Events events = timeline.events(true);

    assertThat(
            List.of(
                ms(timing.ttftNanos()),
                ms(timing.ttfoNanos()),
                ms(timing.tpotNanos()),
                text(tokens.outputTokens()),
                text(tokens.streamedTokens()),
                text(tokens.cachedTokens()),
                tokens.refused().isEmpty() ? "-" : String.join(",", tokens.refused())))
        .containsExactlyElementsOf(List.of(expected).subList(0, 7));
    assertThat(events.unknownFields())
        .containsExactlyElementsOf(List.of(expected).subList(7, expected.length));
    if (events.tokens().length > 0) {
      int sum = Arrays.stream(events.tokens()).sum();
      assertThat(sum).as("each token belongs to an event").isEqualTo(tokens.streamedTokens());
    }
  }

  private static String ms(@Nullable Number nanos) {
    return nanos == null ? "-" : String.valueOf(Math.round(nanos.doubleValue() / MS));
  }

  private static String text(@Nullable Integer count) {
    return count == null ? "-" : count.toString();
  }
}
