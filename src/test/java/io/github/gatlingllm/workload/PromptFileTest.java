package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.gatlingllm.workload.Prompts.PromptPool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class PromptFileTest {
  @TempDir private Path folder;

  static Stream<Arguments> goodFiles() {
    return Stream.of(
        arguments("a.json", "[\"one\",\n {\"prompt\":\"two\",\"id\":7}]"),
        arguments("a.jsonl", "\"one\"\n\n{\"id\":[1],\"prompt\":\"two\"}\r\n"),
        arguments("a.ndjson", "{\"prompt\":\"one\"}\n{\"prompt\":\"two\"}"),
        arguments("a.csv", "id,Prompt\n1,one\n2,two\n"),
        arguments("a.csv", "one\r\ntwo\r\n"),
        arguments("a.CSV", "prompt\n\"one\"\n\ntwo"),
        arguments("a.txt", "one\n\n  \ntwo\n"),
        arguments("a", "\ufeffone\ntwo"));
  }

  @ParameterizedTest
  @MethodSource("goodFiles")
  void readsEveryFormat(String name, String text) throws IOException {
    PromptPool pool = PromptPool.read(file(name, text).toString());
    assertThat(pool.texts()).containsExactly("one", "two");
    assertThat(pool.origin()).isEqualTo(name);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          a.jsonl | {"prompt":"a","output_tokens":8}~{"prompt":"b","output_length":16}~"c"
          a.json | [{"prompt":"a","max_tokens":8},{"prompt":"b","output_tokens_count":16},{"prompt":"c"}]
          a.csv | prompt,output_tokens~a,8~b,16~c,
          a.csv | id,output_tokens,prompt~1,8,a~2,16,b~3,,c
          """)
  void lengthsOfAnswersBelongToTheirPrompts(String name, String text) throws IOException {
    PromptPool read = PromptPool.read(file(name, text.replace('~', '\n')).toString());

    assertThat(read.outputs()).isEqualTo(Map.of(0, 8, 1, 16));
    Prompts prompts = Prompts.of(read, 4);
    assertThat(prompts.hasOutputs()).isTrue();
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 50; i++) {
      seen.add(prompts.pick(i).text() + prompts.outputTokens(i));
    }
    assertThat(seen).containsExactlyInAnyOrder("a8", "b16", "cnull");
    assertThat(Prompts.of(pool, 4).hasOutputs()).isFalse();
  }

  @Test
  void keepsCommasQuotesAndLineBreaksOfQuotedCells() throws IOException {
    Path file = file("a.csv", "prompt,id\n\"a, \"\"b\"\"\nc\",1\nd,2\n");
    assertThat(PromptPool.read(file.toString()).texts()).isEqualTo(List.of("a, \"b\"\nc", "d"));
  }

  /** In files ~ is a line end. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          a.json | {} | a.json:1: entry 1: $WANTED
          a.json | ["one",~7] | a.json:2: entry 2: $WANTED
          a.json | ["one",~{"text":"x"}] | a.json:2: entry 2: $WANTED
          a.json | ["one",~ oops] | a.json:2: entry 2: not valid JSON
          a.json | ["one" | a.json:1: entry 2: not valid JSON
          a.json | [] | a.json contains no prompt; expected at least one
          a.jsonl | "one"~~null | a.jsonl:3: entry 2: $WANTED
          a.jsonl | "one"~{"prompt": | a.jsonl:2: entry 2: not valid JSON
          a.csv | id,text~1,one | a.csv:1: expected a column named prompt, or a single column
          a.csv | id,prompt~1,"a~b"~2 | a.csv:4: has 1 columns, the first row has 2
          a.jsonl | {"prompt":"a"}~{"prompt":"a","output_tokens":-1} | a.jsonl:2: entry 2: "output_tokens" is -1
          a.csv | prompt,output_tokens~a,0 | a.csv:2: output_tokens is 0; expected 1 or more
          a.jsonl | {"messages":[]} | a.jsonl:1: entry 1: is a chat of OpenAI
          a.csv | one~"two | a.csv:2: a double quote is not closed; expected RFC 4180 CSV
          a.csv | id,prompt~1,~ | a.csv:2: the prompt is empty; $WANTED
          a.txt | ~ | a.txt contains no prompt; expected at least one
          """)
  void errorsNameFileAndLine(String name, String text, String message) throws IOException {
    String wanted = "expected a text, or an object with a \"prompt\" text";
    Path file = file(name, text.replace('~', '\n'));
    assertThatThrownBy(() -> PromptPool.read(file.toString()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message.replace("$WANTED", wanted));
  }

  @Test
  void missingOrBinaryFileIsReported() throws IOException {
    assertThatThrownBy(() -> PromptPool.read("none.txt"))
        .hasMessage("none.txt: no such file, neither in the file system nor on the class path");
    Path binary = Files.write(folder.resolve("a.txt"), new byte[] {(byte) 0xff, (byte) 0xff});
    assertThatThrownBy(() -> PromptPool.read(binary.toString()))
        .hasMessage("a.txt is not UTF-8 text; save it as UTF-8");
    assertThatThrownBy(() -> PromptPool.read(folder.toString()))
        .hasMessageContaining("is a directory");
  }

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private final PromptPool pool = PromptPool.builtIn();

  @Test
  void builtInPromptsAreManyAndDistinct() {
    assertThat(pool.texts()).hasSize(100).doesNotHaveDuplicates();
    assertThat(pool.chars().getMin()).isGreaterThan(25);
    assertThat(pool.chars().getMax()).isLessThan(300);
  }

  @Test
  void picksAreFixedBySeedAndIndex() {
    List<String> once = LongStream.range(0, 100).mapToObj(i -> pool.pick(42, i)).toList();
    assertThat(LongStream.range(0, 100).mapToObj(i -> pool.pick(42, i))).isEqualTo(once);
    assertThat(LongStream.range(0, 100).mapToObj(i -> pool.pick(43, i))).isNotEqualTo(once);
    assertThat(new HashSet<>(once)).hasSizeGreaterThan(50);
  }

  @Test
  void picksAreUniform() {
    long[] counts = new long[100];
    LongStream.range(0, 100_000).forEach(i -> counts[pool.texts().indexOf(pool.pick(7, i))]++);
    // 1000 each; five standard deviations of a binomial are 155
    assertThat(Arrays.stream(counts).boxed()).allMatch(count -> count > 845 && count < 1155);
  }

  @Test
  void aFixedTextIsAlwaysPicked() {
    assertThat(PromptPool.of("Hi").pick(1, 99)).isEqualTo("Hi");
  }
}
