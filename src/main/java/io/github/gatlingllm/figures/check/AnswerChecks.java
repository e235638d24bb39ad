package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.capital;
import static io.github.gatlingllm.figures.metric.NumberText.count;
import static io.github.gatlingllm.figures.metric.NumberText.number;
import static io.github.gatlingllm.figures.metric.NumberText.percent;

import io.github.gatlingllm.figures.level.AnswerCounts;
import io.github.gatlingllm.figures.level.AnswerCounts.Property;
import io.github.gatlingllm.figures.level.Summary.Target;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures.Check.Level;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.Figures.RateLimits;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunOutcome.Connections;
import io.github.gatlingllm.record.RunOutcome.PromptRepeats;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Checks of the answers: whether they match the assumptions of the figures. */
final class AnswerChecks {

  static final String NOTE_WHERE_MEANT =
      "note if prompts share text on purpose: scenarios A1, A2, C and D, shared prefixes,"
          + " conversations, datasets";

  private static final String SHARED_ON_PURPOSE =
      "The prompts of this workload share text on purpose. Quote TTFT together with this share.";

  static final String PARSER =
      "The server's parser sends a tool call once it is whole: read E2E. Requests without tools"
          + " show whether a proxy buffers too.";

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
        : Finding.of(0.0, "No request was measured.")
            .level(Level.INVALID)
            .remedy("Measure longer, or find out why no request ended in the window.");
  }

  private static Finding errors(Counts counts, double share) {
    Finding found =
        Finding.of(
            share,
            "%s of %s requests failed (%s)%s; they count in goodput and tok/s, not in latencies.",
            count(counts.failed()),
            count(counts.ended()),
            percent(share),
            counts.rateLimited() == 0
                ? ""
                : ", and " + count(counts.rateLimited()) + " were rate limited");
    if (counts.ok() == 0) {
      return found.level(Level.INVALID);
    }
    return counts.of(RequestStatus.HTTP_ERROR) == 0
        ? found
        : found.remedy(
            "See the table of errors. A server that rejects requests serves the others faster.");
  }

  static @Nullable Finding rateLimited(CheckInput in) {
    RateLimits limits = in.figures().rateLimits();
    if (limits == null || (limits.requests() == 0 && limits.quotas().isEmpty())) {
      return null;
    }
    double share = share(limits.requests(), in.figures().counts().ended());
    String left =
        limits.remaining().isEmpty() ? "" : " Lowest remaining: " + limits.remaining() + ".";
    if (limits.requests() == 0) {
      return Finding.of(share, "No request was rate limited." + left);
    }
    Distribution retryAfter = limits.retryAfterS();
    return Finding.of(
        share,
        "The server rejected %s of %s requests by rate limits (%s; %s)%s. They are no failures, but"
            + " were not served%s.%s",
        count(limits.requests()),
        count(in.figures().counts().ended()),
        percent(share),
        in.figures().errors().stream()
            .filter(e -> e.verdict().equals(RequestStatus.RATE_LIMITED.key()))
            .map(ErrorCount::message)
            .findFirst()
            .orElse("HTTP 429"),
        retryAfter.isEmpty()
            ? ""
            : " and asked to wait %s s (median; at most %s s)"
                .formatted(number(retryAfter.p50()), number(retryAfter.max())),
        in.figures().goodput() == null ? "" : ", so the SLO counts them as missed",
        left);
  }

  static @Nullable Finding connectionsClosed(CheckInput in) {
    Map<String, Connections> servers = in.info().outcome().connections();
    return CheckInput.atWorst(
        servers.keySet().stream().filter(server -> servers.get(server).answers() > 0).toList(),
        server -> share(servers.get(server).closed(), servers.get(server).answers()),
        (server, share) ->
            share == 0
                ? Finding.of(share, "The server closed no connection unannounced.")
                : Finding.of(
                    share,
                    "%s closed the connection unannounced after %s of its answers; %s requests were"
                        + " sent once more.",
                    server,
                    percent(share),
                    count(in.answers().of(Property.RESENT))));
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
                Finding.of(none, "finish reasons: " + finishReasons(answers, target) + "."));
    boolean isAdvised =
        found == null
            || answers.of(Property.PINNED) > 0
            || in.config("ignoreEos").contains("rejects");
    return isAdvised
        ? found
        : found.remedy(
            "Answers without a finish reason may be cut off. Set ignoreEos=true to pin their"
                + " length.");
  }

  private static String finishReasons(AnswerCounts answers, Target target) {
    return target.figures().finishReasons().entrySet().stream()
        .map(
            reason ->
                reason.getKey()
                    + " "
                    + percent(answers.share(target.label(), reason.getValue(), Property.OK)))
        .collect(Collectors.joining(", "));
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
        : found.remedy("Make the server report usage (stream_options.include_usage).");
  }

  private static Finding tokenCounts(AnswerCounts answers, String target, double share) {
    long refused = answers.of(target, Property.REFUSED);
    long estimated = answers.of(target, Property.ESTIMATED);
    String impossible =
        refused == 0
            ? ""
            : " The server's counts of %s in %s answers are impossible, or contradict others."
                .formatted(answers.refusedCounts(), count(refused));
    Finding found =
        estimated == 0
            ? Finding.of(share, "every answer has the server's token count.%s", impossible)
            : Finding.of(
                share,
                "%s of the token counts are estimates (%s by tokenizer, %s by counting events).%s",
                percent(answers.share(target, estimated, Property.OK)),
                count(answers.of(target, Property.COUNTED_BY_TOKENIZER)),
                count(answers.of(target, Property.COUNTED_BY_CHUNKS)),
                impossible);
    return refused == 0 ? found : found.level(Level.WARNING);
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
        (target, share) ->
            Finding.of(
                share,
                "%s of the answers that should be streams arrived as one body%s.",
                percent(share),
                share == 0
                    ? ""
                    : ": they have no TTFT, TPOT or ITL, and their tokens count at its end"));
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
          boolean isOne = CheckCatalogue.TOKENS_PER_EVENT.threshold.level(ratio) == Level.OK;
          Finding found =
              Finding.of(
                  ratio,
                  "%s %s per event%s%s.",
                  number(ratio),
                  ratio == 1 ? "token" : "tokens",
                  isShared ? ", shared evenly (TPOT and ITL are estimates)" : "",
                  isOne || !isShared ? "" : ": ITL describes chunks, not single tokens");
          return isShared ? found : found.level(Level.OK);
        });
  }

  static @Nullable Finding buffering(CheckInput in) {
    return share(
        in,
        Property.BUFFERED,
        Property.LONG_STREAMS,
        "of the streams arrived all at once at their end.",
        (target, found) ->
            isHeldByParser(in, target)
                ? found
                    .level(Level.WARNING)
                    .adding(" They answer requests with tools.")
                    .remedy(PARSER)
                : found);
  }

  /** Whether a target buffers answers, but only those that a parser of tool calls may hold back. */
  static boolean isHeldByParser(CheckInput in, String target) {
    AnswerCounts answers = in.answers();
    long buffered = answers.of(target, Property.BUFFERED);
    long withTools = answers.of(target, Property.BUFFERED_WITH_TOOLS);
    long streams = answers.of(target, Property.LONG_STREAMS);
    return isMuch(share(buffered, streams)) && !isMuch(share(buffered - withTools, streams));
  }

  private static boolean isMuch(double buffered) {
    return CheckCatalogue.BUFFERING.threshold.level(buffered) != Level.OK;
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
    String range =
        percent(cached(low)).equals(percent(cached(high)))
            ? percent(cached(high))
            : "%s (%s) to %s (%s)"
                .formatted(percent(cached(low)), low.label(), percent(cached(high)), high.label());
    boolean isReported = in.summary().workload().cachedShare() != null;
    return asMeant(
        in,
        CheckCatalogue.CACHED_SHARE,
        Finding.of(
            cached(high),
            "%s of the prompt tokens came from the server's prefix cache%s.",
            range,
            isReported ? "" : ", by the engine's own counters"));
  }

  private static double cached(LevelFigures level) {
    return Objects.requireNonNull(level.figures().number(Metric.CACHED_PERCENT)) / 100;
  }

  private static Finding asMeant(CheckInput in, CheckCatalogue check, Finding found) {
    return in.isSharingPlanned() && check.threshold.level(found.value()) == Level.WARNING
        ? found.level(Level.NOTE).remedy(SHARED_ON_PURPOSE)
        : found;
  }

  static @Nullable Finding repeatedPrompts(CheckInput in) {
    PromptRepeats prompts = in.info().outcome().prompts();
    if (prompts == null || in.summary().workload().cachedShare() != null) {
      return null;
    }
    double share = share(prompts.repeated(), prompts.counted());
    return asMeant(
        in,
        CheckCatalogue.REPEATED_PROMPTS,
        prompts.repeated() == 0
            ? Finding.of(share, "No prompt was sent twice.")
            : Finding.of(
                share,
                "%s of %s prompts repeat an earlier one, and the server does not report cached"
                    + " tokens.",
                percent(share),
                count(prompts.counted())));
  }

  static Finding cancelledTails(CheckInput in) {
    long cancelled = in.answers().of(Property.CANCELLED);
    long waiting = in.answers().of(Property.NEVER_ADMITTED);
    double share = share(cancelled, in.figures().counts().started());
    Finding found =
        cancelled == 0
            ? Finding.of(share, "No request was cancelled.")
            : Finding.of(
                share,
                "%s requests were cancelled at the end%s: latency percentiles are lower bounds.",
                count(cancelled),
                waiting == 0 ? "" : ", %s of them not yet sent".formatted(count(waiting)));
    if (waiting > 0) {
      return found.remedy(
          "A throttle, maxInFlight or a limit per minute held requests back: raise it, or offer"
              + " less load.");
    }
    return in.levels().stream().allMatch(LevelFigures::isInjected)
        ? found.remedy("Let Gatling run until all requests have ended (maxDuration).")
        : found;
  }

  /** What is found at the target with the largest figure, which it names if there are several. */
  private static @Nullable Finding atWorst(
      CheckInput in,
      Function<Target, @Nullable Double> figure,
      BiFunction<Target, Double, Finding> found) {
    return CheckInput.atWorst(
        in.summary().targets(),
        figure,
        (target, value) -> {
          Finding worst = found.apply(target, value);
          boolean isNamed = value > 0 && in.summary().hasSeveralTargets();
          return worst.withMessage(
              isNamed ? target.label() + ": " + worst.message() : capital(worst.message()));
        });
  }

  /** The share of answers or events with one of two properties; null without the second. */
  static @Nullable Finding share(CheckInput in, Property part, Property whole, String are) {
    return share(in, part, whole, are, (target, found) -> found);
  }

  private static @Nullable Finding share(
      CheckInput in,
      Property part,
      Property whole,
      String are,
      BiFunction<String, Finding, Finding> judged) {
    AnswerCounts answers = in.answers();
    return atWorst(
        in,
        target -> answers.share(target.label(), answers.of(target.label(), part), whole),
        (target, share) ->
            judged.apply(target.label(), Finding.of(share, percent(share) + " " + are)));
  }

  private static double share(long part, long whole) {
    return whole == 0 ? 0 : (double) part / whole;
  }
}
