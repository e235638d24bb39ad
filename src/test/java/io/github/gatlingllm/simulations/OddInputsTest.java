package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Dataset.Agent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Generated mistakes for every reader of a file and every setting: each is taken, or refused before
 * the load in one line of at most 200 characters. What is taken can be planned and read to its end.
 */
final class OddInputsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private static Path folder;

  /** A file of each kind that its reader takes, and the setting that names the reader. */
  private enum Reader {
    SHAREGPT(
        "dataset=sharegpt:",
        "{'id':'a','conversations':[{'from':'human','value':'q'},{'from':'gpt','value':'a'}]}"),
    OASST(
        "dataset=oasst:",
        "{'prompt':{'text':'q','role':'prompter','deleted':false,'review_result':true,"
            + "'replies':[{'text':'a','role':'assistant','rank':0,'replies':[]}]}}"),
    LONGBENCH(
        "dataset=longbench:",
        "{'context':'c','question':'q','choice_A':'1','choice_B':'2','choice_C':'3',"
            + "'choice_D':'4'}"),
    LONGBENCH_1("dataset=longbench:", "{'context':'c','input':'q','length':5,'answers':['a']}"),
    MOONCAKE(
        "dataset=mooncake:",
        "{'timestamp':7,'input_length':700,'output_length':5,'hash_ids':[1,'b']}"),
    MOONCAKE_TEXT("dataset=mooncake:", "{'text_input':'t','output_length':5,'timestamp':7}"),
    OPENAI(
        "dataset=openai:",
        "{'body':{'messages':[{'role':'user','content':'q'},{'role':'assistant','content':null,"
            + "'tool_calls':[{'id':'1','function':{'name':'f','arguments':'{}'}}]},{'role':'tool',"
            + "'tool_call_id':'1','content':[{'type':'text','text':'r'}]}],'max_tokens':5,"
            + "'tools':[{}]}}"),
    PAYLOAD("dataset=openai:", "{'payload':{'messages':[{'role':'user','content':'q'}]}}"),
    ROWS(
        "sessions=",
        "{'session_id':'s','input_tokens':9,'output_tokens':5,'hash_ids':[1],'block_size':4,"
            + "'gap_ms':1,'children':['b']}\n{'session_id':'s','agent':'b','input_tokens':9,"
            + "'output_tokens':5,'delay':2,'timestamp':9}"),
    CHATS(
        "sessions=",
        "{'chat_id':1,'parent_chat_id':-1,'timestamp':1.5,'input_length':40,'output_length':5,"
            + "'hash_ids':[1,2]}\n{'chat_id':2,'parent_chat_id':1,'timestamp':4,'input_length':60,"
            + "'messages':[{'role':'user','content':'q'}]}"),
    SPANS(
        "sessions=",
        "{'resourceSpans':[{'scopeSpans':[{'spans':[{'traceId':'t','spanId':'a','parentSpanId':'',"
            + "'startTimeUnixNano':'1000','endTimeUnixNano':'2000','status':{'code':1},"
            + "'attributes':[{'key':'gen_ai.operation.name','value':{'stringValue':'chat'}},"
            + "{'key':'gen_ai.usage.input_tokens','value':{'intValue':'9'}},"
            + "{'key':'gen_ai.usage.output_tokens','value':{'intValue':5}}]}]}]}]}"),
    PROMPTS("prompts=", "{'prompt':'p','output_tokens':5}\n'a text'"),
    TRACE("arrival=trace:", "{'timestamp':0,'input_length':9,'output_length':5}\n{'timestamp':9}");

    private final String setting;
    private final String content;

    Reader(String setting, String content) {
      this.setting = setting;
      this.content = content.replace('\'', '"');
    }
  }

  private static final List<String> ODD =
      List.of(
          "null",
          "true",
          "-1",
          "-5",
          "0",
          "1.5",
          "1e308",
          "1e999",
          "2147483648",
          "99999999",
          "1234567890123456789012345678901234567890",
          "\"\"",
          "\"x\"",
          "\"-1\"",
          "\"1e999999999\"",
          "\"\\u0000\\ud800\"",
          "[]",
          "{}",
          "[[]]",
          "[null]",
          "{\"a\":{\"b\":[]}}",
          "\"" + "y".repeat(500) + "\"",
          "[".repeat(900) + "]".repeat(900));

  @ParameterizedTest
  @EnumSource
  void everyReaderTakesOrRefusesEveryMistake(Reader reader) throws IOException {
    Set<String> contents = new LinkedHashSet<>();
    String good = reader.content;
    contents.add(good);
    for (int cut = 1; cut < good.length(); cut += 7) {
      contents.add(good.substring(0, cut));
    }
    contents.add(good.replaceFirst("(?<=:)\"?\\w+\"?", "NaN"));
    contents.add("[" + good.replace('\n', ',') + "]");
    contents.add("[".repeat(5_000));
    contents.add(good + "\n]");
    String[] lines = good.split("\n");
    for (int line = 0; line < lines.length; line++) {
      int at = line;
      mutate(
          lines[line],
          mutated -> {
            String[] all = lines.clone();
            all[at] = mutated;
            contents.add(String.join("\n", all));
          });
    }
    assertThat(contents).hasSizeGreaterThan(40);
    for (Reader by : Reader.values()) {
      for (String content : by == reader ? contents : Set.of(good)) {
        Path file = Files.writeString(folder.resolve("odd.json"), content);
        check(Map.of(), by.setting + file, content);
      }
    }
    assertThat(plan(Map.of(), reader.setting + file(good))).as("positive control").isNotNull();
  }

  private static Path file(String content) throws IOException {
    return Files.writeString(folder.resolve("good.json"), content);
  }

  /** Each value inside a JSON text, at any depth, replaced by each odd one, and left out. */
  private static void mutate(String line, Consumer<String> mutated) throws IOException {
    int values = count(JSON.readTree(line));
    for (int at = 0; at < values; at++) {
      for (String odd : ODD) {
        JsonNode tree = JSON.readTree(line);
        replace(tree, new int[] {at}, JSON.getNodeFactory().textNode("$ODD"));
        mutated.accept(tree.toString().replace("\"$ODD\"", odd));
      }
      JsonNode tree = JSON.readTree(line);
      replace(tree, new int[] {at}, null);
      mutated.accept(tree.toString());
    }
  }

  private static int count(JsonNode tree) {
    int count = tree.size();
    for (JsonNode child : tree) {
      count += count(child);
    }
    return count;
  }

  private static void replace(JsonNode tree, int[] left, JsonNode by) {
    List<String> names = new ArrayList<>();
    tree.fieldNames().forEachRemaining(names::add);
    for (int i = 0; i < tree.size(); i++) {
      if (left[0]-- == 0) {
        if (tree instanceof ObjectNode object) {
          var unused = by == null ? object.remove(names.get(i)) : object.set(names.get(i), by);
        } else if (tree instanceof ArrayNode array) {
          var unused = by == null ? array.remove(i) : array.set(i, by);
        }
        return;
      }
      replace(tree instanceof ObjectNode ? tree.get(names.get(i)) : tree.get(i), left, by);
      if (left[0] < 0) {
        return;
      }
    }
  }

  private static final List<String> VALUES =
      List.of(
          "0",
          "-1",
          "1",
          "1.5",
          "1e999",
          "1e999999999",
          "1e-999999999",
          "NaN",
          "Infinity",
          "2147483647",
          "1000000",
          "9223372036854775807",
          "999999999999999999999",
          "1,,2",
          "1,2,3",
          "a",
          "=",
          "@",
          ":",
          ",",
          "1:2:3:4",
          "{",
          "{}",
          "[1]",
          "{\"a\":NaN}",
          "null",
          "true",
          "999999999h",
          "0.000000001us",
          "%s",
          "$1",
          "\\",
          "\u0000",
          "ü",
          "x".repeat(5_000),
          "trace:",
          "trace:.",
          "hf:",
          "http://",
          "https://h:99999/x",
          "://",
          "a|b",
          "1=2",
          "999999x9999999",
          "9999x99999x99999",
          "0x0",
          "100%@999999999h",
          "1%@0",
          "auto:0.000001%",
          "steps:0:1h",
          "1000000:999999h",
          "0:1s,1e6:1s",
          "lognormal:1:1000000",
          "weighted:1=0",
          "999999:1",
          "1-1000000",
          "1/1000000",
          "999999/1",
          "999999999",
          "/",
          "/dev/null",
          "none",
          "9999-12-31T23:59:59Z",
          "-999999999-01-01T00:00:00Z");

  static Stream<Setting<?>> settings() {
    return Setting.all().stream().filter(each -> !each.name.contains("<"));
  }

  @ParameterizedTest
  @MethodSource("settings")
  void everySettingTakesOrRefusesEveryText(Setting<?> setting) {
    Map<String, String> needed = new HashMap<>();
    for (String other : setting.needs()) {
      Setting<?> entry = Setting.named(other.replaceFirst(" .*", ""));
      needed.put(entry.name, entry.example);
    }
    needed.remove("dataset");
    for (Map<String, String> others : List.of(Map.<String, String>of(), needed)) {
      for (String value : VALUES) {
        check(others, setting.name + "=" + value, value);
        check(others, setting.name + "=" + setting.example + value, value);
      }
    }
  }

  private static void check(Map<String, String> others, String setting, String input) {
    try {
      plan(others, setting);
    } catch (InvalidSimulation refused) {
      assertThat(refused.getMessage())
          .as(setting)
          .isNotBlank()
          .hasSizeLessThanOrEqualTo(200)
          .doesNotContain("\n", "\r", "Exception");
    } catch (RuntimeException | Error e) {
      throw new AssertionError(setting + " with " + input + " and " + others + " throws " + e, e);
    }
  }

  /** The plan as a run makes it, and all that the load reads of its files. */
  private static String plan(Map<String, String> others, String setting) {
    Map<String, String> all = new HashMap<>(others);
    String[] both = setting.split("=", 2);
    all.put("tokenizer", "chars4");
    all.put("endpoint", "http://127.0.0.1:9/v1");
    if (!both[1].startsWith("trace:") && !setting.startsWith("trials=")) {
      all.put("requests", "2");
    }
    all.put(both[0], both[1]);
    BenchmarkPlan plan = CheckedSettings.plan(all, Map.of());
    var unused = WorkloadScenarios.firstSession(plan);
    Dataset dataset = plan.workload().dataset();
    for (int i = 0; dataset != null && i < dataset.size(); i++) {
      dataset.outputTokens(dataset.get(i));
    }
    if (plan.workload().sessions() != null) {
      plan.workload().sessions().sessions().forEach(each -> read(each.main()));
    }
    return BenchmarkText.of(plan);
  }

  private static void read(Agent agent) {
    agent
        .turns()
        .forEach(
            turn -> {
              assertThat(turn.prompt().get()).isNotNull();
              turn.children().forEach(OddInputsTest::read);
            });
  }
}
