package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CheckedPromptsTest {

  @TempDir Path folder;

  private CheckedPrompts read(String name, String text) throws IOException {
    return CheckedPrompts.parse(Files.writeString(folder.resolve(name), text).toString());
  }

  @Test
  void promptsOfTheLoadNeedNoFile() {
    assertThat(CheckedPrompts.parse("check").prompts()).isEmpty();
  }

  @Test
  void linesOfJsonAndRowsOfCsvSayTheSame() throws IOException {
    CheckedPrompts lines =
        read(
            "qa.jsonl",
            """
            {"prompt":"7 × 6?","expected":"42"}
            {"prompt":"A colour?","pattern":"(?i)red|blue"}
            {"prompt":"Anything"}
            """);
    CheckedPrompts rows =
        read(
            "qa.csv",
            "id,Prompt,expected,pattern\n1,7 × 6?,42,\n2,A colour?,,(?i)red|blue\n3,Anything,,\n");
    assertThat(rows.prompts()).isEqualTo(lines.prompts()).hasSize(3);
    assertThat(rows.patterns()).isEqualTo(lines.patterns());
    assertThat(lines).hasToString("qa.jsonl");
  }

  @ParameterizedTest
  @CsvSource({
    "expected, Paris, It is paris., true",
    "expected, the  Eiffel tower, 'The eiffel\nTower!', true",
    "expected, 4.2, 412, false",
    "pattern, ^42$, 42, true",
    "pattern, ^42$, 421, false",
    "other, x, y, ",
  })
  void answerIsRightByTextOrPattern(String field, String value, String answer, Boolean right)
      throws IOException {
    CheckedPrompts prompts =
        read("qa.json", "[{\"prompt\":\"?\",\"%s\":\"%s\"}]".formatted(field, value));
    assertThat(prompts.isRight(0, answer)).isEqualTo(right);
  }

  /** An event loop that searches for years, or for more than its stack, is lost. */
  @ParameterizedTest
  @CsvSource({"(.*a){12}b, 24", "(a|c)*b, 100000"})
  @Timeout(60)
  void aPatternThatBacktracksWithoutEndIsRefused(String pattern, int length) throws IOException {
    CheckedPrompts prompts = read("qa.csv", "prompt,pattern\n?," + pattern + "\n");
    assertThatThrownBy(() -> prompts.isRight(0, "a".repeat(length)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "qa.csv: the pattern of prompt 1 backtracks too much in an answer of %s characters; simplify it"
                .formatted(length));
    assertThat(prompts.isRight(0, "a".repeat(20) + "b")).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a.jsonl | {'prompt':'1'}#{'prompt':'2','pattern':'a('} | a.jsonl:2: entry 2: pattern 'a('"
            + " is not a regular expression (Unclosed group at character 3); correct it",
        "a.jsonl | {'prompt':'1'}##{'prompt':' '} | a.jsonl:3: entry 2: has no prompt; expected",
        "a.jsonl | {'prompt':'1','expected':'a','pattern':'b'} | a.jsonl:1: entry 1: has both"
            + " expected and pattern",
        "a.jsonl | {'prompt':'1','expected':7} | a.jsonl:1: entry 1: expected is 7; expected a"
            + " text",
        "a.json | [] | a.json has no prompt; expected the fields prompt",
        "a.csv | prompt,pattern#x,[ | a.csv:2: pattern '[' is not a regular expression",
        "a.csv | question#x | a.csv:1: expected a column named prompt",
        "a.csv | prompt#x,y | a.csv:2: has 2 columns, the first row has 1",
        "a.csv | prompt | a.csv has no prompt; expected",
      })
  void mistakeIsNamedWithItsLine(String name, String text, String message) {
    String content = text.replace('\'', '"').replace('#', '\n');
    assertThatThrownBy(() -> read(name, name.endsWith("csv") ? text.replace('#', '\n') : content))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message);
  }

  @Test
  void moreThanAThousandPromptsAreRefused() {
    assertThatThrownBy(() -> read("a.csv", "prompt\n" + "x\n".repeat(1_001)))
        .hasMessage("a.csv:1002: is one of more than 1000 prompts; leave some out");
    assertThatThrownBy(() -> CheckedPrompts.parse("chek"))
        .hasMessage("chek: no such file, neither in the file system nor on the class path");
  }
}
