package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.workload.Conversation.Dialog;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class DatasetTest {

  @TempDir private Path folder;

  @Test
  void shareGptHoldsDialogsByFromAndValue() {
    Dataset dataset = open(Dataset.Format.SHAREGPT, "datasets/sharegpt.json");

    assertThat(dataset)
        .hasToString(
            "sharegpt.json (sharegpt): 3 dialogs, 1 to 2 turns (mean 1.3); prompts of 17 to 49"
                + " characters (mean 31); 1 begin with an answer, which is not sent; left out 2 of"
                + " 6: no user message; left out 1 of 6: no text");
    Dialog first = dataset.get(0);
    assertThat(first.system()).isEqualTo("Sei kurz. ☀️");
    assertThat(first.promptMessages())
        .extracting(Message::role, Message::content)
        .containsExactly(
            tuple("system", "Sei kurz. ☀️"),
            tuple("user", "Was ist Licht?"),
            tuple("assistant", "Eine Welle."),
            tuple("user", "Wovon?"));
    assertThat(first.prompt()).isEqualTo("Wovon?");
    assertThat(first.answer()).isEqualTo("Des elektromagnetischen Feldes.");
    assertThat(first.size()).isEqualTo(2);
    assertThat(dataset.outputTokens(first))
        .as("counted where the format does not say")
        .isEqualTo(Tokenizer.cl100k().count("Des elektromagnetischen Feldes."));
    assertThat(contents(dataset.get(1).promptMessages()))
        .containsExactly("Sort it the other way round.");
    assertThat(dataset.get(1).messages()).as("all that was recorded").hasSize(3);
    assertThat(dataset.outputTokens(dataset.get(2))).as("nothing was answered").isNull();
    assertThat(dataset.get(2).system()).isNull();
  }

  @Test
  void shareGptVariantsAreTheSame() throws IOException {
    Path lines =
        file(
            "chats.jsonl",
            "\ufeff"
                + """
                {"items": [{"from": "user", "value": "é?"}, {"from": "chatgpt", "value": "!"}]}

                {"conversations": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\r
                {"conversations": [{"from": "Human", "value": "x"}, {"from": "bing", "value": "y"}]}
                """);

    Dataset dataset = open(Dataset.Format.SHAREGPT, lines.toString());

    assertThat(IntStream.range(0, 3).mapToObj(dataset::get).map(Dialog::prompt))
        .containsExactly("é?", "a", "x");
    assertThat(IntStream.range(0, 3).mapToObj(dataset::get).map(Dialog::answer))
        .containsExactly("!", "b", "y");
  }

  /** Files, in which ~ is a line end and ' a double quote, their summary and their last prompt. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          SHAREGPT | {'conversation':[{'from':'human','value':'q'}]} | 1 dialog, 1 turn; prompts of 1 \
          character | q
          SHAREGPT | {'messages':[{'role':'user','content':'qq'}]} | 1 dialog, 1 turn; prompts of 2 \
          characters | qq
          SHAREGPT | {'conversations':[{'from':'human','value':'a'},{'from':'function_call','value':'{}'},\
          {'from':'observation','value':null}]}~{'conversations':[{'from':'human','value':'b'}]}~\
          {'conversations':[{'from':'moderator','value':'c'}]} | 1 dialog, 1 turn; prompts of 1 \
          character; left out 1 of 3: with calls of tools; left out 1 of 3: with messages of another \
          role than human, gpt and system | b
          OPENAI | {'payload':{'messages':[{'role':'user','content':'q'}],'max_tokens':20}} | 1 dialog, 1 \
          turn; prompts of 1 character; answers of 20 tokens | q
          OPENAI | {'payload':[{'messages':[{'role':'user','content':'r'}]}]} | 1 dialog, 1 turn; prompts \
          of 1 character | r
          LONGBENCH | {'context':'','input':'in','answers':[]}~{'context':'con','input':''} | 2 dialogs, 1 \
          turn; prompts of 2 to 3 characters (mean 2.5) | con
          LONGBENCH | {'context':' ','input':''}~{'context':'con','input':'in'} | 1 dialog, 1 turn; prompts \
          of 73 characters; left out 1 of 2: no text | `Here is a text, and after it a question about it.~~<text>~con~</text>~~in`
          MOONCAKE | {'text_input':'hello','output_length':8}~{'messages':[{'role':'user','content':'xy'}]} \
          | 2 dialogs, 1 turn; prompts of 2 to 5 characters (mean 3.5); answers of 8 tokens | xy
          MOONCAKE | {'input_length':1}~{'text_input':'a','output_length':0} | 1 dialog, 1 turn; prompts of \
          1 token; left out 1 of 2: no output tokens | $ANY
          """)
  void formsOfOtherToolsAreReadOrLeftOut(
      Dataset.Format format, String lines, String summary, String prompt) throws IOException {
    Path file = file("a.jsonl", lines.replace('~', '\n').replace('\'', '"'));

    Dataset dataset = open(format, file.toString());

    assertThat(dataset.summary()).isEqualTo(summary);
    String last = dataset.get(dataset.size() - 1).prompt();
    assertThat(last).isEqualTo(prompt.equals("$ANY") ? last : prompt.replace('~', '\n'));
  }

  @Test
  void openAssistantGivesTheBestRankedPath() {
    Dataset dataset = open(Dataset.Format.OASST, "datasets/oasst.trees.jsonl");

    assertThat(dataset.summary()).endsWith("; left out 1 of 3: the prompt was deleted or rejected");
    assertThat(dataset.size()).isEqualTo(2);
    assertThat(contents(dataset.get(0).messages()))
        .containsExactly("Name a river.", "The Rhine.", "How long is it?", "About 1,230 km.");
    assertThat(dataset.get(0).messages())
        .extracting(Message::role)
        .containsExactly("user", "assistant", "user", "assistant");
    assertThat(contents(dataset.get(1).messages())).containsExactly("¿Qué hora es?");
  }

  @Test
  void longBenchPutsTheTextFirst() {
    Dialog dialog = open(Dataset.Format.LONGBENCH, "datasets/longbench.json").get(0);

    assertThat(dialog.prompt())
        .contains("<text>\nThis lease of 100 % of the house\nwas signed by both parties.\n</text>")
        .contains("Who signed?\nA: The tenant\nB: The landlord\nC: Both\nD: Nobody\n");
    assertThat(dialog.answer()).as("a letter is not a recorded answer").isNull();
  }

  @Test
  void openAiChatsKeepPartsToolsAndLimits() {
    Dataset dataset = open(Dataset.Format.OPENAI, "datasets/openai.jsonl");

    assertThat(contents(dataset.get(0).promptMessages()))
        .containsExactly("Answer in one word.", "Sky?", "Blue", "Grass?");
    assertThat(dataset.get(0).outputTokens()).isEqualTo(3);
    Dialog picture = dataset.get(1);
    assertThat(picture.outputTokens()).isEqualTo(40);
    assertThat(picture.prompt()).isEqualTo("What is this?");
    assertThat(picture.messages().get(0).parts()).contains("data:image/png;base64,AAAA");
    Dialog weather = dataset.get(2);
    assertThat(weather.tools())
        .isEqualTo("[{\"type\":\"function\",\"function\":{\"name\":\"weather\"}}]");
    assertThat(weather.size()).isEqualTo(2);
    assertThat(weather.promptMessages()).hasSize(3);
    assertThat(weather.promptMessages().get(1).toolCalls()).contains("\\\"city\\\":\\\"Bonn\\\"");
    assertThat(weather.promptMessages().get(2).toolCallId()).isEqualTo("c1");
    assertThat(weather.answer()).isEqualTo("It is 12 °C.");
  }

  @ParameterizedTest
  @MethodSource("tokenizers")
  void mooncakeTextsHaveTheRecordedLengthsAndSharedBlocks(Tokenizer tokenizer) {
    Dataset dataset = Dataset.open(Dataset.Format.MOONCAKE, "datasets/mooncake.jsonl", tokenizer);

    assertThat(dataset.summary())
        .isEqualTo(
            "4 dialogs, 1 turn; prompts of 513 to 1500 tokens (mean 978); answers of 7 to 52 tokens"
                + " (mean 24); left out 1 of 5: no output tokens");
    List<Dialog> dialogs = IntStream.range(0, 4).mapToObj(dataset::get).toList();
    assertThat(dialogs)
        .allSatisfy(
            dialog ->
                assertThat(tokenizer.count(dialog.prompt()))
                    .as("tokens")
                    .isEqualTo(dialog.inputTokens()));
    assertThat(dialogs).extracting(Dialog::outputTokens).containsExactly(52, 26, 7, 9);
    String shared = tokenizer.head(dialogs.get(0).prompt(), 2 * Mooncake.BLOCK);
    assertThat(dialogs.get(1).prompt()).startsWith(shared);
    assertThat(common(dialogs.get(0).prompt(), dialogs.get(1).prompt()))
        .as("the third blocks differ")
        .isLessThan(shared.length() + 40);
    assertThat(common(dialogs.get(0).prompt(), dialogs.get(2).prompt())).isLessThan(40);
    assertThat(common(dialogs.get(2).prompt(), dialogs.get(3).prompt())).isLessThan(40);
    assertThat(dataset.get(0)).as("the same again").isEqualTo(dialogs.get(0));
    assertThat(dataset.inOrder(5)).isEqualTo(dialogs.get(1));
  }

  static Stream<Tokenizer> tokenizers() {
    return Stream.of(Tokenizer.cl100k(), Tokenizer.chars4(), new EveryLetter());
  }

  /** One whose counts do not add up over words: a token per letter, and one at the beginning. */
  private record EveryLetter() implements Tokenizer {
    @Override
    public String name() {
      return "letters";
    }

    @Override
    public int count(String text) {
      return text.isEmpty() ? 0 : 1 + text.replace(" ", "").length();
    }

    @Override
    public String head(String text, int tokens) {
      int letters = 1;
      int end = 0;
      while (end < text.length() && (letters < tokens || text.charAt(end) == ' ')) {
        letters += text.charAt(end++) == ' ' ? 0 : 1;
      }
      return text.substring(0, end).stripTrailing();
    }
  }

  private static int common(String a, String b) {
    int i = 0;
    while (i < Math.min(a.length(), b.length()) && a.charAt(i) == b.charAt(i)) {
      i++;
    }
    return i;
  }

  @Test
  void laterPartsOfATextComeWhenEachHasHadItsFirst() throws IOException {
    Path file =
        file(
            "long.json",
            "[{\"conversations\": [{\"from\": \"human\", \"value\": \"aaabbbc\"}]},"
                + " {\"conversations\": [{\"from\": \"human\", \"value\": \"xy\"}]}]");
    Prompts.PromptSource texts = open(Dataset.Format.SHAREGPT, file.toString()).texts(3);

    assertThat(IntStream.range(0, 2).mapToObj(i -> texts.pick(1, i)))
        .containsExactlyInAnyOrder("aaa", "xy");
    assertThat(IntStream.range(2, 4).mapToObj(i -> texts.pick(1, i)))
        .containsExactlyInAnyOrder("bbb", "xy");
    assertThat(IntStream.range(4, 6).mapToObj(i -> texts.pick(1, i)))
        .containsExactlyInAnyOrder("aaa", "xy");
  }

  @Test
  void gzipIsDetectedByExtension() throws IOException {
    Path packed = folder.resolve("packed.trees.jsonl.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
      out.write(Files.readAllBytes(DataFile.of("datasets/oasst.trees.jsonl").path()));
    }
    assertThat(open(Dataset.Format.OASST, packed.toString()).get(0).prompt())
        .isEqualTo("How long is it?");

    Files.write(packed, new byte[] {1, 2, 3});
    assertThatThrownBy(() -> open(Dataset.Format.OASST, packed.toString()))
        .hasMessageContaining("packed.trees.jsonl.gz")
        .hasMessageContaining("unpack it or drop the .gz");
  }

  /** Files, in which ~ is a line end and $GOOD a dialog, and what their first error begins with. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          a.jsonl | $GOOD~~{'x': 1} | a.jsonl:3: entry 2: expected an object with
          a.jsonl | $GOOD~{'conver | a.jsonl:2: entry 2: not valid JSON (
          a.json | [~$GOOD,~ 7] | a.json:3: entry 2: expected an object with
          a.json | [~$GOOD,~{] | a.json:3: entry 2: not valid JSON (
          a.json | [$GOOD | a.json:1: entry 2: not valid JSON (Unexpected end-of-input: expected \
          close marker for Array); mend
          a.json | [$GOOD]~{} | a.json:2: entry 2: the array has ended
          a.json | [{'conversations': [{'from': 'tool', 'value': 'a'}]}] | a.json has no dialog with \
          a question (0 dialogs; left out 1 of 1: with calls of tools)
          a.json | [{'conversations': [{'from': 'human', 'value': null}]}] | a.json:1: entry 1: \
          expected a text "value"
          a.json | `` | a.json has no dialog with a question (0 dialogs)
          a.json | [] | a.json has no dialog with a question (0 dialogs)
          a.json | [{'conversations': []}] | a.json has no dialog with a question (0 dialogs; \
          left out 1 of 1: no user
          """)
  void rejectsAFileAtItsFirstInvalidEntry(String name, String text, String message)
      throws IOException {
    String good = "{'conversations': [{'from': 'human', 'value': 'a'}]}";
    Path file = file(name, text.replace("$GOOD", good).replace('\'', '"').replace('~', '\n'));
    assertThatThrownBy(() -> open(Dataset.Format.SHAREGPT, file.toString()))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .startsWith(message)
        .hasLineCount(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          OASST | {'text': 'a'} | a message tree with a "prompt"
          OASST | {'prompt': {'role': 'system', 'text': 't'}} | the role 'system'; expected prompter \
          or assistant
          LONGBENCH | {'context': 'c'} | a text "question"
          MOONCAKE | {'timestamp': 0, 'input_length': 2000000000} | expected "input_length", an integer \
          number of tokens
          MOONCAKE | {'timestamp': 0, 'input_length': 5, 'output_length': 5, 'hash_ids': [1.5]} | \
          expected "hash_ids", a list of integers
          MOONCAKE | {'input_length': 5, 'timestamp': 'x'} | expected "timestamp", a number
          OPENAI | {'prompt': 'a'} | is a prompt, which dataset=openai does not read; use prompts=
          OPENAI | {'x': 'a'} | an object with a list "messages"
          OPENAI | {'messages': [{'role': 'user', 'content': 7}]} | a text or a list of parts as \
          "content"
          OPENAI | {'messages': [{'role': 'user'}]} | neither "content" nor "tool_calls"
          OPENAI | {'messages': [], 'max_tokens': 0} | "max_tokens" is 0; expected an integer ≥ 1
          """)
  void errorsNameTheExpectedForm(Dataset.Format format, String line, String expected)
      throws IOException {
    Path file = file("a.jsonl", line.replace('\'', '"'));
    assertThatThrownBy(() -> open(format, file.toString()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("a.jsonl:")
        .hasMessageContaining(expected);
  }

  @Test
  void namesMissingFilesAndDirectories() {
    assertThatThrownBy(() -> open(Dataset.Format.OPENAI, ""))
        .hasMessage("'' is a directory; expected a file");
    assertThatThrownBy(() -> open(Dataset.Format.OPENAI, "no/such.jsonl"))
        .hasMessage(
            "no/such.jsonl: no such file, neither in the file system nor on the class path");
  }

  @Test
  void detectsThatTheFileHasChanged() throws IOException {
    Path file = file("a.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}");
    Dataset dataset = open(Dataset.Format.OPENAI, file.toString());
    Files.writeString(file, "{");

    assertThatThrownBy(() -> dataset.get(0))
        .hasMessage("a.jsonl has changed since it was opened (it is shorter now)");
  }

  @Test
  void everyUserGetsAnotherDialogUntilAllAreUsed() throws IOException {
    String lines =
        IntStream.range(0, 50)
            .mapToObj(i -> "{\"messages\": [{\"role\": \"user\", \"content\": \"q" + i + "\"}]}\n")
            .collect(Collectors.joining());
    Dataset dataset = open(Dataset.Format.OPENAI, file("a.jsonl", lines).toString());

    List<String> pass = prompts(dataset, 42, 0);
    Set<String> all = new HashSet<>(pass);

    assertThat(all).hasSize(50);
    assertThat(prompts(dataset, 42, 0)).isEqualTo(pass);
    assertThat(prompts(dataset, 42, 50))
        .isNotEqualTo(pass)
        .containsExactlyInAnyOrderElementsOf(all);
    assertThat(prompts(dataset, 43, 0)).isNotEqualTo(pass);
  }

  private static List<String> prompts(Dataset dataset, long seed, int from) {
    return IntStream.range(from, from + dataset.size())
        .mapToObj(i -> dataset.dialog(seed, i).prompt())
        .toList();
  }

  private static Dataset open(Dataset.Format format, String file) {
    return Dataset.open(format, file, Tokenizer.cl100k());
  }

  private static List<String> contents(List<Message> messages) {
    return messages.stream().map(Message::content).toList();
  }

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text, StandardCharsets.UTF_8);
  }
}
