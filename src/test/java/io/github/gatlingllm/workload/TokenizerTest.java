package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.IOException;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class TokenizerTest {

  private static final Path FILES = Path.of("src/test/resources/tokenizers");
  private static final Map<String, Tokenizer> OPEN = new ConcurrentHashMap<>();

  /** As golden.json names it: files without their folder. */
  private static Tokenizer tokenizer(String name) {
    return OPEN.computeIfAbsent(
        name,
        n -> Tokenizer.parse(n.startsWith("hf:") ? "hf:" + FILES.resolve(n.substring(3)) : n));
  }

  static Stream<Tokenizer> all() {
    return Stream.of(
            "tiktoken:r50k_base",
            "tiktoken:p50k_base",
            "tiktoken:p50k_edit",
            "tiktoken:cl100k_base",
            "tiktoken:o200k_base",
            "hf:bpe.tokenizer.json",
            "hf:wordpiece.tokenizer.json",
            "hf:unigram.tokenizer.json",
            "chars4")
        .map(TokenizerTest::tokenizer);
  }

  /** Counts by the reference implementations: see reference.py beside golden.json. */
  @TestFactory
  Stream<DynamicTest> referenceCounts() throws IOException {
    JsonNode golden = new ObjectMapper().readTree(FILES.resolve("golden.json").toFile());
    List<DynamicTest> tests = new ArrayList<>();
    for (JsonNode text : golden.path("texts")) {
      text.path("tokens")
          .properties()
          .forEach(
              count ->
                  tests.add(
                      dynamicTest(
                          count.getKey() + ", " + text.path("name").textValue(),
                          () ->
                              assertThat(
                                      tokenizer(count.getKey())
                                          .count(text.path("text").textValue()))
                                  .isEqualTo(count.getValue().intValue()))));
    }
    assertThat(tests).hasSizeGreaterThan(240);
    return tests.stream();
  }

  @ParameterizedTest
  @MethodSource("all")
  void headsEndWithCompleteCharactersWithinTheLimitOfTokens(Tokenizer tokenizer) {
    String text = "Größe, naïveté, 東京, 🤖🤖🏳️‍🌈 and a plain end.";
    int all = tokenizer.count(text);
    for (int n = 0; n <= all; n++) {
      String head = tokenizer.head(text, n);
      assertThat(text).startsWith(head);
      assertThat(Character.isHighSurrogate(head.isEmpty() ? 'a' : head.charAt(head.length() - 1)))
          .isFalse();
      assertThat(tokenizer.count(head)).isLessThanOrEqualTo(n);
    }
    assertThat(tokenizer.head(text, all)).isEqualTo(text);
    assertThat(tokenizer.head(text, all + 1)).isEqualTo(text);
  }

  /** Jackson and the wire make a question mark of half a pair. */
  @ParameterizedTest
  @MethodSource("all")
  void unpairedSurrogateCountsAsTheCharacterSent(Tokenizer tokenizer) {
    assertThat(tokenizer.count("a \uD83E b")).isEqualTo(tokenizer.count("a ? b"));
  }

  @Test
  void threadsMayShareATokenizer() {
    String text = "Divide 東京 into tokens 🤖 at once. ".repeat(20);
    all()
        .forEach(
            tokenizer -> {
              int expected = tokenizer.count(text);
              assertThat(Stream.generate(() -> text).limit(200).parallel().map(tokenizer::count))
                  .containsOnly(expected);
            });
  }

  @Test
  void fourCharactersAreOneToken() {
    assertThat(Tokenizer.chars4().count("")).isZero();
    assertThat(Tokenizer.chars4().count("abcd")).isOne();
    assertThat(Tokenizer.chars4().count("abcde")).isEqualTo(2);
    assertThat(Tokenizer.chars4().count("🤖🤖🤖🤖")).isOne();
  }

  @Test
  void namesCanBeParsed() {
    assertThat(all())
        .allSatisfy(t -> assertThat(Tokenizer.parse(t.name()).name()).isEqualTo(t.name()));
    assertThat(Tokenizer.parse("auto").name()).isEqualTo("tiktoken:cl100k_base");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gpt-4 | tokenizer 'gpt-4' is unknown; expected auto, server, chars4, tiktoken:<encoding>"
            + " or hf:<tokenizer.json or model>",
        "tiktoken:gpt2 | encoding 'gpt2' is unknown; expected one of r50k_base, p50k_base,"
            + " p50k_edit, cl100k_base, o200k_base",
        "hf:no/such.json | hf:no/such.json is not a readable file; expected the tokenizer.json of a"
            + " model",
        "hf: | hf: is not a readable file; expected the tokenizer.json of a model"
      })
  void wrongNames(String name, String message) {
    assertThatThrownBy(() -> Tokenizer.parse(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void aFileThatIsNoTokenizer(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("tokenizer.json"), "{\"version\":\n1}");
    assertThatThrownBy(() -> Tokenizer.huggingFace(file.toString()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("hf:" + file + " is not understood (")
        .hasMessageNotContaining("\n");
  }

  @Test
  void nothingIsDownloadedAndNoUsageReported() {
    assertThat(tokenizer("hf:bpe.tokenizer.json").count("hello")).isPositive();
    assertThat(System.getProperty("ai.djl.offline")).isEqualTo("true");
  }

  /** Whoever has no use for Hugging Face needs none of its classes. */
  @Test
  void withoutTheOptionalDependency() throws Exception {
    try (URLClassLoader without = JavaCommand.loaderWithout("djl")) {
      Class<?> tokenizer = without.loadClass(Tokenizer.class.getName());
      var parse = tokenizer.getMethod("parse", String.class);
      var count = tokenizer.getMethod("count", String.class);
      assertThat(count.invoke(parse.invoke(null, "chars4"), "abcde")).isEqualTo(2);
      assertThat(count.invoke(parse.invoke(null, "auto"), "hello world")).isEqualTo(2);
      assertThatThrownBy(() -> parse.invoke(null, "hf:" + FILES.resolve("bpe.tokenizer.json")))
          .cause()
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "hf tokenizers need a library that is not there; add the dependency "
                  + HuggingFace.COORDINATES);
    }
  }

  @Test
  void namedDependencyIsThatOfThePom() throws IOException {
    String version =
        HuggingFace.COORDINATES.substring(HuggingFace.COORDINATES.lastIndexOf(':') + 1);
    assertThat(Files.readString(Path.of("pom.xml")))
        .contains("<djl.version>" + version + "</djl.version>");
  }
}
