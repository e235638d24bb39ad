package io.github.gatlingllm.figures.check;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.level.AnswerCounts;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

record CheckInput(RunFigures run) {

  /** Names of tokenizers that are the model's. */
  private static final Pattern OWN = Pattern.compile("hf:|server$");

  /** Where a tokenizer is found by the name of OpenAI's model. */
  private static final String BY_NAME = "the name of the model";

  /** Names of the built-in scenarios whose prompts have text in common. */
  private static final Set<String> SHARING_SCENARIOS = Set.of("A1", "A2", "C", "D");

  private static final Pattern HERE =
      Pattern.compile("^https?://([^/]*@)?(127\\.|localhost\\b|\\[::1\\])");

  Summary summary() {
    return run.summary();
  }

  RunInfo info() {
    return run.info();
  }

  Figures figures() {
    return summary().figures();
  }

  List<LevelFigures> levels() {
    return summary().stages();
  }

  AnswerCounts answers() {
    return run.answers();
  }

  long lost() {
    return info().outcome().dropped()
        + run.file().badLines()
        + (run.file().cutTailBytes() > 0 ? 1 : 0);
  }

  /** What is found at the level with the largest figure; null if no level has one. */
  @Nullable Finding atWorst(
      Function<LevelFigures, @Nullable Double> figure,
      BiFunction<LevelFigures, Double, Finding> found) {
    return atWorst(levels(), figure, found);
  }

  static <T> @Nullable Finding atWorst(
      List<T> all, Function<T, @Nullable Double> figure, BiFunction<T, Double, Finding> found) {
    return all.stream()
        .filter(each -> figure.apply(each) != null)
        .max(Comparator.comparingDouble(each -> requireNonNull(figure.apply(each))))
        .map(each -> found.apply(each, requireNonNull(figure.apply(each))))
        .orElse(null);
  }

  /** Whether lengths were set, so that another number of tokens is another benchmark. */
  boolean hasLengths() {
    return Stream.of("promptTokens", "lengths", "scenario", "mix")
        .anyMatch(info().config()::containsKey);
  }

  /** The tokens that the chat template of a target adds; null where that is not known. */
  @Nullable Integer template(String target) {
    TargetFacts facts = info().targets().get(target);
    return facts == null ? null : facts.templateTokens();
  }

  /** Whether a server rejected a field: then the flag of its setting has a reason as its value. */
  boolean isRejected(String flag) {
    return !List.of("", "true", "false").contains(config(flag));
  }

  String config(String name) {
    return info().config().getOrDefault(name, "");
  }

  /** Whether the tokenizer is a model's own, by the facts of a target if one is given. */
  boolean hasOwnTokenizer(@Nullable String target) {
    TargetFacts facts = target == null ? null : info().targets().get(target);
    return OWN.matcher(facts == null ? config("tokenizer") : facts.tokenizer()).lookingAt()
        || config("tokenizer_source").equals(BY_NAME);
  }

  /** Whether an endpoint is an address of the generator's own machine. */
  boolean isServerHere() {
    return summary().workload().endpoints().keySet().stream().anyMatch(HERE.asPredicate());
  }

  boolean isSharingPlanned() {
    return info().config().containsKey("sharedPrefix")
        || info().config().containsKey("dataset")
        || info().config().containsKey("sessions")
        || summary().workload().turns().keySet().stream().anyMatch(turn -> turn > 1)
        || summary().requests().stream().anyMatch(of -> SHARING_SCENARIOS.contains(of.name()));
  }
}
