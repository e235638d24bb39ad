package io.github.gatlingllm.simulations;

import static io.github.gatlingllm.workload.LengthDistribution.exactly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.javaapi.PromptsBuilder;
import io.github.gatlingllm.workload.LengthDistribution.Draw;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BenchmarkWorkloadTest {

  @Test
  void promptsHaveExactlyTheirTokens() {
    Prompts prompts = pool("promptTokens=300 requests=20");

    assertThat(prompts.made()).as("20 at each of 4 levels").hasSize(80);
    PromptPrefix.Texts nonces = read("").prefix().texts(Tokenizer.cl100k());
    assertThat(prompts.made())
        .allMatch(p -> Tokenizer.cl100k().count(nonces.of(0) + p.text()) == 300);
  }

  @Test
  void aPrefixIsPartOfTheLength() {
    for (String prefix : Set.of("uniquePrompts=true", "sharedPrefix=3x100")) {
      String all = prefix + " promptTokens=200 requests=10";
      PromptPrefix.Texts texts = read(all).prefix().texts(Tokenizer.cl100k());
      Prompts prompts = pool(all);

      // Whatever request gets the prompt: Benchmark's protocol counts requests on its own.
      assertThat(
              IntStream.range(0, 50)
                  .map(i -> Tokenizer.cl100k().count(texts.of(i + 7) + prompts.pick(i).text())))
          .containsOnly(200);
    }
  }

  @Test
  void lengthsAreDrawnBySeed() {
    String spread = "promptTokens=100-200 seed=5 requests=10";
    Set<Integer> lengths =
        pool(spread).made().stream().map(Prompts.DrawnPrompt::tokens).collect(Collectors.toSet());

    assertThat(lengths).hasSizeGreaterThan(20).allMatch(n -> n >= 100 && n <= 200);
    assertThat(pool(spread).made()).isEqualTo(pool(spread).made());
  }

  /** Prompts and outputs, also where prompts repeat; a list of one output replaces the pairs'. */
  @Test
  void pairsOfLengthsAreDrawnBySeed() {
    String pairs = "lengths=40,3:60;60-80,5:40 seed=5 requests=50 concurrency=1";
    Workload.Pool pool = read(pairs).workload().pools().get(0);
    List<Integer> outputs =
        LongStream.range(0, 100).mapToObj(i -> new Draw(1, i).of(pool.outputs())).toList();
    assertThat(pool.prompts().made())
        .extracting(Prompts.DrawnPrompt::tokens)
        .contains(40)
        .anyMatch(tokens -> tokens > 60);
    for (int i = 0; i < 100; i++) {
      assertThat(outputs.get(i)).isEqualTo(pool.prompts().pick(i).tokens() == 40 ? 3 : 5);
    }
    Workload.Pool again = read(pairs).workload().pools().get(0);
    assertThat(again.prompts().made()).isEqualTo(pool.prompts().made());
    assertThat(again.outputs()).hasToString("exactly 3 tokens (60 %), exactly 5 tokens (40 %)");
    assertThat(read(pairs + " maxTokens=9").outputs()).containsExactly(exactly(9));
    assertThat(read(pairs).config())
        .containsEntry("lengths", "40,3:60;60-80,5:40")
        .doesNotContainKeys("promptTokens", "maxTokens");
    assertThat(read("lengths=prefillHeavy requests=1 concurrency=1").outputs().get(0).mean())
        .isEqualTo(1_024);
  }

  /** A name of a pair that is given before has to stay. */
  @Test
  void aGridWithoutLengthsOfOutputsHasTheirMean() {
    BenchmarkPlan plan = read("promptTokens=40,60 requests=1 concurrency=1");
    assertThat(plan.workload().pools())
        .extracting(Workload.Pool::pair)
        .containsExactly("40/16", "60/16");
    assertThat(plan.outputs()).containsExactly(exactly(16));
    assertThat(plan.config()).containsEntry("maxTokens", "16");
  }

  @Test
  void atMost1000PromptsAreGenerated() {
    assertThat(pool("promptTokens=5").made()).hasSize(1_000);
    String open = "promptTokens=5 rate=1 duration=3 drain=10";
    assertThat(pool(open).made()).as("3 s, up to 5 before and 10 after").hasSize(18);
    assertThat(pool(open + " stabilize=0 cooldown=false").made()).hasSize(3);
  }

  /** Of both lists; commas between weights do not end a length. */
  @Test
  void listsOfLengthsMakeAGrid() {
    BenchmarkPlan plan =
        read(
            "promptTokens=40,weighted:50=70,60=30,80 maxTokens=8,1024 rate=2,4"
                + " duration=10 drain=0");
    List<Workload.Pool> pools = plan.workload().pools();

    assertThat(pools)
        .extracting(Workload.Pool::pair)
        .containsExactly(
            "40/8",
            "40/1024",
            "weighted:50=70,60=30/8",
            "weighted:50=70,60=30/1024",
            "80/8",
            "80/1024");
    assertThat(pools)
        .extracting(pool -> (int) pool.outputs().mean())
        .containsExactly(8, 1024, 8, 1024, 8, 1024);
    assertThat(pools).extracting(pool -> pool.prompts().made().get(0).tokens()).contains(40, 80);
    assertThat(pools.get(0).prompts().made())
        .as("each pair draws its own")
        .isNotEqualTo(pools.get(1).prompts().made());
    assertThat(plan.workload().made())
        .as("as many as are sent, but 1,000 at most")
        .isBetween(6 * 60L, 1_000L);
    assertThat(new WorkloadScenarios(plan, Api.CHAT).list()).hasSize(6);
    assertThat(BenchmarkText.of(plan))
        .contains(
            "requests       about 60 requests, per pair of lengths",
            "grid           6 pairs of prompt and output tokens, one after the other, each with",
            "               40/8, 40/1024, weighted:50=70,60=30/8, ",
            "prompt size    exactly 40 tokens, exactly 50 tokens (70 %), exactly 60 tokens (30 %),"
                + " exactly 80 tokens by",
            "output         exactly 8 tokens, exactly 1024 tokens (",
            "time           2 min of measuring, at most ");
    assertThat(read("promptTokens=5,9").workload().made()).isEqualTo(1_000);
    assertThat(read("promptTokens=20,900").prefix()).isEqualTo(PromptPrefix.NONE);
  }

  @Test
  void scenariosKeepTheirOrderAndMixesTheirWeights() {
    Workload two = read("scenario=C,a1 requests=1").workload();
    assertThat(two.known()).extracting(each -> each.scenario().name()).containsExactly("C", "A1");
    Workload mix =
        CheckedSettings.plan(Map.of("mix", "C:70, B1:30.5", "requests", "1"), Map.of()).workload();
    assertThat(mix.weights()).containsExactly(70.0, 30.5);
  }

  @Test
  void noNonceIfTheWorkloadSharesPromptsOrPromptsAreTooShort() {
    for (String shared :
        Set.of(
            "uniquePrompts=false",
            "scenario=A1",
            "mix=C:1",
            "dataset=sharegpt:datasets/sharegpt.json",
            "promptTokens=8")) {
      assertThat(read(shared).prefix()).as("%s", shared).isEqualTo(PromptPrefix.NONE);
    }
    assertThat(read("scenario=A1 uniquePrompts=true").prefix())
        .isInstanceOf(PromptPrefix.Unique.class);
  }

  @Test
  void thePlanShowsScenariosTheirSizesAndWhatTheyShow() {
    assertThat(plan("scenario=A1,B2,C,D requests=2 concurrency=4"))
        .contains(
            """
            requests       2 requests, per scenario; a dialog of 5 turns counts as one request
            """)
        .contains(
            """
            scenarios      A1,B2,C,D, one after the other, each with the full load
                           A1 same short: 50 tokens
                              shows: every prompt is cached after the first: TTFT without prefill
                           B2 diverse long: 2500 tokens, 2 distinct
                              shows: the worst case: every prompt is prefilled in full, caching cannot help
                           C  RAG, agent: a system prompt of 2000 tokens, 30 tokens, 2 distinct
                              shows: the shared prefix is cached, the query is not: what agents and RAG gain
                           D  multi-turn dialog: 5 turns of 50 tokens, 10 distinct
                              shows: each turn extends the one before: a cache must store complete dialogs
            """);
    assertThat(plan("scenario=A1,B1 duration=10 drain=0 rate=2"))
        .contains("time           20 s of measuring");
    assertThat(plan("mix=C:2,B1:1 requests=2")).contains("mix            C 66.7 %, B1 33.3 %\n");
  }

  @Test
  void thePlanNamesPromptsWithoutTheirExactLength() {
    // A mean of 5 tokens beside a nonce of 7: some lengths leave nothing for the prompt.
    String narrow = "promptTokens=8:3 uniquePrompts=true requests=20 rate=1";
    assertThat(plan(narrow))
        .containsPattern("NOT EXACT      \\d+ of 20 prompts: #\\d+ has 7 of \\d tokens, #");
    assertThat(read(narrow).config().get("promptsNotExact")).matches("\\d+ of 20");
  }

  @Test
  void thePlanNamesTheTokenizerOfPromptLengthsIfTokenizersDiffer() {
    String two = "endpoint=http://a/v1,http://b/v1 tokenizer=chars4,tiktoken:o200k_base requests=2";
    String sized = two + " scenario=A1";
    String first = "chars4, that of the first target; all are asked the same texts";

    assertThat(plan(sized)).contains("sized by       " + first + "\n");
    assertThat(read(sized).config()).containsEntry("promptsSizedBy", first);
    assertThat(plan(two)).as("built-in prompts have sizes too").contains("sized by");
    assertThat(plan(sized + " tokenizer=chars4")).doesNotContain("sized by");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          promptTokens=0 | expected tokens from 1 to 1,000,000: a number, <mean>:<std>, <min>-<max>, lognormal:<mean>:<std> or weighted:128=70,4096=30
          promptTokens=7 uniquePrompts=true | leaves nothing of a prompt after its prefix of 7 tokens; request more
          scenario=A1,E | expected A1, A2, B1, B2, C, D, agentx, e.g. B1,C
          scenario=A1,A1 | expected each scenario once
          scenario=A1 prompts=x.txt | cannot be set together with llm.prompts (scenarios have their own prompts)
          mix=C:0 | expected <scenario>:<weight > 0>, e.g. C:70,B1:30
          mix=C | expected <scenario>:<weight > 0>, e.g. C:70,B1:30
          mix=X:1 | expected <scenario>:<weight > 0>, e.g. C:70,B1:30
          scenario=D api=completions | D is a dialog, which needs an API that takes messages
          mix=C:1 api=embeddings | C requires generated text; embeddings needs prompts or a dataset
          mix=C:1 api=rerank | C requires generated text; rerank needs prompts or a dataset
          inputsPerRequest=4 api=messages | only embeddings and rerank have inputs (llm.api)
          interleave=true scenario=A1,B1 endpoint=http://a/v1,http://b/v1 | expected one llm.scenario or pair of lengths; several run one after the other
          interleave=true promptTokens=40,50 endpoint=http://a/v1,http://b/v1 | expected one llm.scenario or pair of lengths; several run one after the other
          promptTokens=40,40 | expected each length once
          maxTokens=8,8 | expected each length once
          maxTokens=8,16 | a grid has lengths of prompts; set llm.promptTokens too
          maxTokens=8,16 scenario=B1 | a grid has lengths of prompts; set llm.promptTokens too
          scenario=B1 promptTokens=40,50 | cannot be set together with llm.promptTokens (scenarios have their own prompts)
          dataset=sharegpt:datasets/sharegpt.json promptTokens=40,50 | cannot be set together with llm.promptTokens (each defines the prompts)
          promptTokens=40,50 search=maxGoodput slo=ttft<1s | cannot be set together with llm.search (each pair of lengths has a sweep)
          promptTokens=40,50 rate=1:5s,2:5s | a list cannot be set with this llm.rate; a curve has no load levels
          promptTokens=40,50 arrival=trace:traces/azure.csv | a list cannot be set with this llm.arrival; a trace has its own lengths
          promptTokens=40,50 api=embeddings | a list cannot be set with this llm.api; this API generates no output
          sharedPrefix=0x50 | 0 shared prefixes of 50 tokens; expected 1 or more, each of 2 to 1000000 tokens
          """)
  void refusesContradictions(String settings, String message) {
    assertThatThrownBy(() -> read(settings))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessage("llm." + settings.split(" ", -1)[0] + ": " + message);
  }

  @Test
  void answersHaveTheLengthsOfTheirPrompts(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("p.jsonl");
    Files.writeString(
        file,
        "{\"prompt\":\"a\",\"output_tokens\":8}\n{\"prompt\":\"b\",\"output_tokens\":9}\n\"c\"\n");
    String settings = "concurrency=1 prompts=" + file;

    assertThat(read(settings).hasRecordedOutputs()).isTrue();
    assertThat(read(settings + " maxTokens=4").hasRecordedOutputs()).isFalse();
    assertThat(plan(settings)).contains("with 2 lengths of answers: 8 to 9 tokens");
    Iterator<Map<String, Object>> fed = PromptsBuilder.feeder(pool(settings)).get();
    assertThat(
            Stream.generate(fed::next)
                .limit(40)
                .map(row -> row.get("prompt") + ":" + row.get("outputTokens")))
        .containsOnly("a:8", "b:9", "c:null");
    assertThat(WorkloadScenarios.firstSession(read(settings))).containsKey("prompt");
  }

  @Test
  void traceOfAnswersAloneKeepsThePrompts(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("t.csv");
    Files.writeString(file, "timestamp,output_tokens\n0.5,5\n1.5,6\n");

    assertThat(plan("arrival=trace:" + file))
        .contains("t.csv, 1 per second (time stamps in seconds")
        .contains("uniform lengths of 64 to 448 tokens");
  }

  private static Prompts pool(String settings) {
    return read(settings).workload().pools().get(0).prompts();
  }

  private static String plan(String settings) {
    return BenchmarkText.of(read(settings));
  }

  private static BenchmarkPlan read(String settings) {
    return CheckedSettings.plan("tokenizer=auto " + settings);
  }
}
