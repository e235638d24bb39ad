package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.percent;

import io.github.gatlingllm.figures.level.AnswerCounts;
import io.github.gatlingllm.figures.level.AnswerCounts.Property;
import io.github.gatlingllm.figures.level.AnswerCounts.TextCounts;
import io.github.gatlingllm.figures.level.Summary.AnswerSummary;
import io.github.gatlingllm.figures.level.Summary.TargetSummary;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.Figures.RateLimits;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestRecord.AnswerPass;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunOutcome.Connections;
import io.github.gatlingllm.record.RunOutcome.PromptRepeats;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks of the answers: whether they match the assumptions of the figures, and their lengths. */
final class AnswerChecks {

  /** A remaining difference beside a template, and is not worth a warning. */
  private static final double EXPLAINED = 0.01;

  private AnswerChecks() {}

  static Finding errors(CheckInput in) {
    Finding worst =
        atWorst(
            in,
            target -> {
              Counts counts = target.figures().counts();
              return counts.ended() == 0 ? null : (Double) share(counts.failed(), counts.ended());
            },
            (target, share) -> errors(target.figures().counts(), share));
    return worst != null
        ? worst
        : Finding.of(0.0, "errors.none").level(CheckLevel.INVALID).remedy("errors.none.remedy");
  }

  private static Finding errors(Counts counts, double share) {
    Finding found =
        Finding.of(
            share, "errors.found", counts.failed(), counts.ended(), share, counts.rateLimited());
    if (counts.ok() == 0) {
      return found.level(CheckLevel.INVALID);
    }
    return counts.of(RequestStatus.HTTP_ERROR) == 0 ? found : found.remedy("errors.remedy", true);
  }

  static @Nullable Finding rateLimited(CheckInput in) {
    RateLimits limits = in.figures().rateLimits();
    if (limits == null || (limits.requests() == 0 && limits.quotas().isEmpty())) {
      return null;
    }
    double share = share(limits.requests(), in.figures().counts().ended());
    Distribution retryAfter = limits.retryAfterS();
    return Finding.of(
        share,
        "rate_limited.found",
        limits.requests(),
        in.figures().counts().ended(),
        share,
        in.figures().errors().stream()
            .filter(e -> e.verdict().equals(RequestStatus.RATE_LIMITED.key()))
            .map(ErrorCount::message)
            .findFirst()
            .orElse("HTTP 429"),
        retryAfter.p50(),
        retryAfter.max(),
        in.figures().goodput() != null,
        limits.remaining());
  }

  static @Nullable Finding contextExceeded(CheckInput in) {
    long refused = in.figures().counts().of(RequestStatus.CONTEXT_EXCEEDED);
    double share = share(refused, in.figures().counts().ended());
    return refused == 0 ? null : Finding.of(share, "context_exceeded.found", refused, share);
  }

  static @Nullable Finding connectionsClosed(CheckInput in) {
    Map<String, Connections> servers = in.info().outcome().connections();
    return CheckInput.atWorst(
        servers.keySet().stream().filter(server -> servers.get(server).answers() > 0).toList(),
        server -> share(servers.get(server).closed(), servers.get(server).answers()),
        (server, share) ->
            Finding.of(
                share,
                "connections_closed.found",
                server,
                share,
                in.answers().of(Property.RESENT)));
  }

  static @Nullable Finding finishReasons(CheckInput in) {
    AnswerCounts answers = in.answers();
    Finding found =
        atWorst(
            in,
            target -> {
              long none = target.figures().finishReasons().getOrDefault("none", 0L);
              return answers.share(target.label(), none, Property.OK);
            },
            (target, none) ->
                Finding.of(none, "finish_reasons.found", finishReasons(answers, target)));
    boolean isAdvised =
        found == null || answers.of(Property.PINNED) > 0 || in.isRejected("ignoreEos");
    return isAdvised ? found : found.remedy("finish_reasons.remedy", true);
  }

  private static List<Sentence> finishReasons(AnswerCounts answers, TargetSummary target) {
    return target.figures().finishReasons().entrySet().stream()
        .map(
            reason ->
                Sentence.of(
                    "finish_reasons.reason",
                    reason.getKey(),
                    answers.share(target.label(), reason.getValue(), Property.OK)))
        .toList();
  }

  static @Nullable Finding tokenCounts(CheckInput in) {
    AnswerCounts answers = in.answers();
    Finding found =
        atWorst(
            in,
            target ->
                answers.share(
                    target.label(),
                    Math.max(
                        answers.of(target.label(), Property.ESTIMATED),
                        answers.of(target.label(), Property.REFUSED)),
                    Property.OK),
            (target, share) -> tokenCounts(answers, target.label(), share));
    return found == null || !in.hasOwnTokenizer(null)
        ? found
        : found.remedy("token_counts.remedy", true);
  }

  private static Finding tokenCounts(AnswerCounts answers, String target, double share) {
    long refused = answers.of(target, Property.REFUSED);
    long estimated = answers.of(target, Property.ESTIMATED);
    Finding found =
        Finding.of(
            share,
            "token_counts.found",
            answers.share(target, estimated, Property.OK),
            answers.of(target, Property.COUNTED_BY_TOKENIZER),
            answers.of(target, Property.COUNTED_BY_CHUNKS),
            answers.refusedCounts(),
            refused);
    return refused == 0 ? found : found.level(CheckLevel.WARNING);
  }

  static @Nullable Finding notStreamed(CheckInput in) {
    AnswerCounts answers = in.answers();
    return atWorst(
        in,
        target -> {
          long bodies = answers.of(target.label(), Property.NOT_STREAMED);
          long all = answers.of(target.label(), Property.STREAMED) + bodies;
          return all == 0 ? null : (Double) share(bodies, all);
        },
        (target, share) -> Finding.of(share, "not_streamed.found", share));
  }

  static @Nullable Finding tokensPerEvent(CheckInput in) {
    AnswerCounts answers = in.answers();
    return atWorst(
        in,
        target ->
            answers.of(target.label(), Property.STREAMED)
                    <= answers.of(target.label(), Property.COUNTED_BY_CHUNKS)
                ? null
                : target.figures().number(Metric.BATCH_RATIO),
        (target, ratio) -> {
          boolean isShared = answers.of(target.label(), Property.SHARED) > 0;
          boolean isOne = CheckCatalogue.TOKENS_PER_EVENT.level(ratio) == CheckLevel.OK;
          Finding found =
              Finding.of(ratio, "tokens_per_event.found", ratio, isShared, !isOne && isShared);
          return isShared ? found : found.level(CheckLevel.OK);
        });
  }

  static @Nullable Finding buffering(CheckInput in) {
    return share(
        in,
        Property.BUFFERED,
        Property.LONG_STREAMS,
        (target, share) -> {
          boolean isOfParser = isDelayedByParser(in, target);
          Finding found = Finding.of(share, "buffering.found", share, isOfParser);
          return isOfParser
              ? found.level(CheckLevel.WARNING).remedy("buffering.remedy", true)
              : found;
        });
  }

  /** Whether a target buffers answers, but only those that a parser of tool calls may delay. */
  static boolean isDelayedByParser(CheckInput in, String target) {
    AnswerCounts answers = in.answers();
    long buffered = answers.of(target, Property.BUFFERED);
    long withTools = answers.of(target, Property.BUFFERED_WITH_TOOLS);
    long streams = answers.of(target, Property.LONG_STREAMS);
    return isAboveThreshold(share(buffered, streams))
        && !isAboveThreshold(share(buffered - withTools, streams));
  }

  private static boolean isAboveThreshold(double buffered) {
    return CheckCatalogue.BUFFERING.level(buffered) != CheckLevel.OK;
  }

  static @Nullable Finding cachedShare(CheckInput in) {
    List<LevelFigures> levels =
        in.summary().stages().stream()
            .filter(level -> level.figures().number(Metric.CACHED_PERCENT) != null)
            .sorted(Comparator.comparingDouble(AnswerChecks::cached))
            .toList();
    if (levels.isEmpty()) {
      return null;
    }
    LevelFigures low = levels.get(0);
    LevelFigures high = levels.get(levels.size() - 1);
    boolean isOne = percent(cached(low)).equals(percent(cached(high)));
    return intended(
        in,
        CheckCatalogue.CACHED_SHARE,
        Finding.of(
            cached(high),
            "cached_share.found",
            cached(low),
            isOne ? null : low.label(),
            cached(high),
            high.label(),
            in.summary().workload().cachedShare() != null),
        "cached_share.remedy");
  }

  private static double cached(LevelFigures level) {
    return Objects.requireNonNull(level.figures().number(Metric.CACHED_PERCENT)) / 100;
  }

  private static Finding intended(
      CheckInput in, CheckCatalogue check, Finding found, String remedy) {
    return in.isSharingPlanned() && check.level(found.value()) == CheckLevel.WARNING
        ? found.level(CheckLevel.NOTE).remedy(remedy, true)
        : found;
  }

  static @Nullable Finding repeatedPrompts(CheckInput in) {
    PromptRepeats prompts = in.info().outcome().prompts();
    if (prompts == null || in.summary().workload().cachedShare() != null) {
      return null;
    }
    double share = share(prompts.repeated(), prompts.counted());
    return intended(
        in,
        CheckCatalogue.REPEATED_PROMPTS,
        Finding.of(share, "repeated_prompts.found", share, prompts.counted()),
        "repeated_prompts.remedy");
  }

  /** At the level, or after the load, and of what is least likely without an effect of load. */
  static @Nullable Finding answersChanged(CheckInput in) {
    List<Worse> all =
        in.summary().answers().stream()
            .filter(pass -> pass.pass() == AnswerPass.LOAD || pass.pass() == AnswerPass.AFTER)
            .flatMap(pass -> worse(in, pass))
            .toList();
    return all.stream()
        .min(Comparator.comparingDouble(Worse::chance).thenComparing(worse -> -worse.share()))
        .map(worse -> worse.finding(worse.chance() * Worse.tests(all) < Worse.SIGNIFICANT))
        .orElse(null);
  }

  private static Stream<Worse> worse(CheckInput in, AnswerSummary pass) {
    return in.summary().answers().stream()
        .filter(of -> of.pass() == AnswerPass.AGAIN && of.target().equals(pass.target()))
        .flatMap(
            again ->
                Stream.of(AnswerSummary.CHANGED, AnswerSummary.FAULTY, AnswerSummary.WRONG)
                    .filter(property -> pass.of(property) > 0 && again.of(property) > 0)
                    .map(property -> new Worse(place(in, pass), property, pass, again)));
  }

  private static String place(CheckInput in, AnswerSummary pass) {
    return in.levels().stream()
        .filter(level -> level.label().equals(pass.stage()))
        .filter(level -> level.info().target().equals(pass.target()))
        .findFirst()
        .map(LevelFigures::place)
        .orElse(in.summary().hasSeveralTargets() ? pass.target() : "");
  }

  /** The share of answers with a property in a pass, beside that in the second one before load. */
  private record Worse(String place, String property, AnswerSummary pass, AnswerSummary again) {

    static final double SIGNIFICANT = 0.05;

    /** Those that could find something: in the others no answer differs. */
    static long tests(List<Worse> all) {
      return Math.max(
          1, all.stream().filter(each -> each.pass.chances().containsKey(each.property)).count());
    }

    double chance() {
      return pass.chances().getOrDefault(property, 1.0);
    }

    double share() {
      return AnswerChecks.share(pass.count(property), pass.of(property));
    }

    Finding finding(boolean isWorse) {
      Interval under = Objects.requireNonNull(pass.interval(property));
      Interval without = Objects.requireNonNull(again.interval(property));
      return Finding.of(
              share(),
              "answers_changed.found",
              isWorse,
              Sentence.of("answers_changed.what", property),
              pass.stage() == null,
              pass.of(property),
              share(),
              under.low(),
              under.high(),
              property.equals(AnswerSummary.CHANGED) ? pass.changedAt() : null,
              AnswerChecks.share(again.count(property), again.of(property)),
              without.low(),
              without.high())
          .at(place)
          .remedy("answers_changed.remedy", pass.judged() > 0)
          .warnsIf(isWorse);
    }
  }

  /** In the pass before or after the load in which it is clearer. */
  static @Nullable Finding answersCached(CheckInput in) {
    List<AnswerSummary> again =
        in.summary().answers().stream()
            .filter(pass -> pass.pass() == AnswerPass.AGAIN || pass.pass() == AnswerPass.AFTER)
            .filter(pass -> pass.timed() > 0)
            .toList();
    return again.stream()
        .min(Comparator.comparingDouble(AnswerSummary::fasterChance))
        .map(
            pass -> {
              AnswerSummary first =
                  in.summary().answers().stream()
                      .filter(of -> of.pass() == AnswerPass.FIRST)
                      .filter(of -> of.target().equals(pass.target()))
                      .findFirst()
                      .orElseThrow();
              boolean isCached = pass.fasterChance() * again.size() < Worse.SIGNIFICANT;
              return Finding.of(
                      share(pass.faster(), pass.timed()),
                      "answers_cached.found",
                      isCached,
                      pass.faster(),
                      pass.timed(),
                      first.laterTokenMs(),
                      pass.laterTokenMs(),
                      first.ttftMs(),
                      pass.ttftMs(),
                      first.e2eMs(),
                      pass.e2eMs())
                  .at(in.summary().hasSeveralTargets() ? pass.target() : "")
                  .warnsIf(isCached);
            })
        .orElse(null);
  }

  static Finding cancelledTails(CheckInput in) {
    long cancelled = in.figures().counts().cancelled();
    long waiting = in.answers().of(Property.NEVER_ADMITTED);
    double share = share(cancelled, in.figures().counts().started());
    return Finding.of(share, "cancelled_tails.found", cancelled, waiting)
        .remedy(
            "cancelled_tails.remedy",
            waiting > 0,
            in.levels().stream().allMatch(LevelFigures::isInjected));
  }

  /** What is found at the target with the largest figure, which it names if there are several. */
  private static @Nullable Finding atWorst(
      CheckInput in,
      Function<TargetSummary, @Nullable Double> figure,
      BiFunction<TargetSummary, Double, Finding> found) {
    return CheckInput.atWorst(
        in.summary().targets(),
        figure,
        (target, value) ->
            found
                .apply(target, value)
                .at(value > 0 && in.summary().hasSeveralTargets() ? target.label() : ""));
  }

  /** The share of answers or events with one of two properties; null without the second. */
  static @Nullable Finding share(CheckInput in, String id, Property part, Property all) {
    return share(in, part, all, (target, share) -> Finding.of(share, id, share));
  }

  private static @Nullable Finding share(
      CheckInput in, Property part, Property all, BiFunction<String, Double, Finding> found) {
    AnswerCounts answers = in.answers();
    return atWorst(
        in,
        target -> answers.share(target.label(), answers.of(target.label(), part), all),
        (target, share) -> found.apply(target.label(), share));
  }

  private static double share(long part, long all) {
    return all == 0 ? 0 : (double) part / all;
  }

  static @Nullable Finding promptTokensAgree(CheckInput in) {
    Finding found = comparison(in, in.answers().prompts(), "prompt_tokens_agree", in::template);
    return judged(found, in.hasLengths());
  }

  /** Only a note of lengths that were not set, or by a tokenizer that stands in. */
  private static @Nullable Finding judged(@Nullable Finding found, boolean isExact) {
    return found == null || isExact
        ? found
        : found.level(found.value() > 0.1 ? CheckLevel.NOTE : CheckLevel.OK);
  }

  private static @Nullable Finding comparison(
      CheckInput in,
      Map<String, TextCounts> counts,
      String check,
      Function<String, @Nullable Integer> templates) {
    String target = AnswerCounts.worst(counts, templates);
    if (target == null) {
      return null;
    }
    TextCounts worst = counts.get(target);
    Integer reported = templates.apply(target);
    double difference = worst.difference(reported);
    double added = worst.templateTokens(reported);
    String server = counts.size() > 1 ? target : "The server";
    double size = Math.abs(difference);
    Finding found =
        worst.areEqual()
            ? Finding.of(0.0, check + ".equal", worst.count())
            : added > 0 && size <= EXPLAINED
                ? Finding.of(size, check + ".added", server, added)
                : Finding.of(
                    size,
                    check + ".differ",
                    server,
                    worst.serverTokens(),
                    added == 0 ? null : (Double) added,
                    size,
                    difference < 0,
                    worst.localTokens(),
                    worst.count());
    return in.hasOwnTokenizer(target) ? found.remedy(check + ".remedy", true) : found;
  }

  static @Nullable Finding outputTokensAgree(CheckInput in) {
    Map<String, TextCounts> outputs = in.answers().outputs();
    String worst = AnswerCounts.worst(outputs, target -> null);
    Finding found = comparison(in, outputs, "output_tokens_agree", target -> null);
    return judged(found, worst != null && in.hasOwnTokenizer(worst));
  }
}
