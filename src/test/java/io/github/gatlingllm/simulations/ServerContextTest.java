package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.report.CommandLine;
import io.github.gatlingllm.settings.TargetSpec;
import io.github.gatlingllm.simulations.ModelTokenizers.Servers;
import io.github.gatlingllm.workload.Tokenizer;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Prompts and outputs that the context of a server has room for, or not. */
final class ServerContextTest {

  /** Four characters a token, a template of 17, and a context that its list of models has. */
  private record Listed(int context) implements Servers {
    @Override
    public @Nullable ModelTokenizers counting(TargetSpec target) {
      return new ModelTokenizers(Tokenizer.chars4(), "http://a/tokenize", true, 17, null);
    }

    @Override
    public Integer context(TargetSpec target) {
      return target.model() == null ? context : Integer.parseInt(target.model());
    }
  }

  /** What is said of a plan before the load: nothing, a warning or a refusal. */
  private static String said(String settings, int context) {
    return CommandLine.call(
            () -> {
              try {
                var unused =
                    BenchmarkPlan.of(
                        CheckedSettings.settings(
                            CheckedSettings.named(
                                ("requests=20 endpoint=http://a/v1 " + settings).split(" ", -1)),
                            Map.of(),
                            Path.of("none")),
                        () -> 4711,
                        new Listed(context));
              } catch (IllegalArgumentException e) {
                System.out.println("refused: " + e.getMessage());
              }
              return 0;
            })
        .output();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          promptTokens=1000 maxTokens=4                        ; 1021 ; llm.promptTokens
          promptTokens=1000 maxTokens=4 promptTokensOf=request ; 1004 ; llm.promptTokens
          promptTokens=1000 maxTokens=4 tokenizer=chars4       ; 1004 ; llm.promptTokens
          promptTokens=1000 maxTokens=4 model=5000|1021        ; 9999 ;
          promptTokens=100,1000 maxTokens=4,8                  ; 1025 ; llm.promptTokens
          lengths=1000,100                                     ; 1117 ; llm.lengths
          lengths=1000,100 maxTokens=4                         ; 1021 ; llm.lengths
          api=embeddings promptTokens=1000                     ; 1017 ; llm.promptTokens
          scenario=B1 maxTokens=4                              ;   71 ; llm.scenario
          """)
  void oneTokenTooFewIsRefused(String settings, int context, @Nullable String setting) {
    assertThat(said(settings, context)).isEmpty();
    if (setting != null) {
      assertThat(said(settings, context - 1))
          .startsWith("refused: " + setting)
          .contains(String.valueOf(context - 1))
          .doesNotContain("\n");
    }
  }

  /** Only some outputs, of up to 64 tokens, exceed it. */
  @ParameterizedTest
  @CsvSource({
    "maxTokens=4-64, 1081, ''",
    "maxTokens=4-64, 1080, LLM WARNING: ",
    "maxTokens=4-64, 1021, LLM WARNING: ",
    "maxTokens=4-64, 1020, refused: llm.promptTokens",
    "'lengths=1000,4-64', 1080, LLM WARNING: ",
  })
  void outputsThatMayExceedItAreAWarning(String outputs, int context, String begin) {
    String said =
        said(outputs.contains("lengths") ? outputs : "promptTokens=1000 " + outputs, context);
    assertThat(said).startsWith(begin).doesNotContain("\n");
    assertThat(said.isEmpty()).isEqualTo(begin.isEmpty());
    assertThat(said.contains(String.valueOf(context))).isEqualTo(!begin.isEmpty());
  }
}
