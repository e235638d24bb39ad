package io.github.gatlingllm.action;

import io.gatling.core.session.Session;
import io.github.gatlingllm.client.Api.AddedField;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.run.Observers.TraceContext;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.Abandonment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A target of a run: one protocol, and what all requests with it share. Equal protocols are one
 * target; requests before the load have a separate run, and the limits of the target. Thread-safe.
 */
final class Target {

  final Targets all;
  final LlmRun run;
  final LlmProtocol protocol;
  final String name;
  final Named named;

  /** Those of requests in flight, then those per minute of all requests with its name. */
  final List<Limit> limits;

  final PreparedRequest.Prefixes prefixes;

  /** Null where its pages were not read. */
  private final @Nullable ServerFacts server;

  /** What all protocols share whose targets have the same name. */
  static final class Named {

    final Set<AddedField> rejected = new ConcurrentSkipListSet<>();

    /** SLOs of single requests, by their names. */
    final Map<String, Slo> slos = new TreeMap<>();

    /** Whose time includes that for the first request. */
    final ReadyWait wait;

    private final Map<List<@Nullable Integer>, Limit> limits = new HashMap<>();
    private final AtomicBoolean isTried = new AtomicBoolean();

    /** The tokens that the chat template adds, once a server has shown them. */
    @Nullable Integer template;

    boolean hasSeveralSlos;

    /** Null without the setting {@code answers}, and before they are first sent. */
    @Nullable AnswerPasses answers;

    /** Load plans whose last level has not ended. */
    final AtomicInteger plans = new AtomicInteger();

    Named(LlmProtocol first) {
      wait = new ReadyWait(first);
    }

    /** Whether this is the first call: the first request is tried once. */
    boolean isFirstTry() {
      return isTried.compareAndSet(false, true);
    }

    private @Nullable Limit perMinute(@Nullable Integer requests, @Nullable Integer tokens) {
      return requests == null && tokens == null
          ? null
          : limits.computeIfAbsent(
              Arrays.asList(requests, tokens),
              both -> Limit.perMinute(requests, tokens, System::nanoTime));
    }
  }

  Target(Targets all, LlmRun run, LlmProtocol protocol, @Nullable ServerFacts server) {
    this.server = server;
    this.all = all;
    this.run = run;
    this.protocol = protocol;
    name = protocol.label();
    named = all.named(protocol);
    Integer inFlight = all.share("maxInFlight", protocol.get(Setting.MAX_IN_FLIGHT));
    Limit perMinute =
        named.perMinute(
            all.share("maxRequestsPerMinute", protocol.get(Setting.MAX_REQUESTS_PER_MINUTE)),
            all.share("maxTokensPerMinute", protocol.get(Setting.MAX_TOKENS_PER_MINUTE)));
    limits =
        Stream.of(inFlight == null ? null : Limit.inFlight(inFlight), perMinute)
            .filter(Objects::nonNull)
            .toList();
    prefixes = run.prefixes(all.texts(protocol));
  }

  private Target(Target same, LlmRun run) {
    this.run = run;
    all = same.all;
    protocol = same.protocol;
    name = same.name;
    named = same.named;
    limits = same.limits;
    server = same.server;
    prefixes = run.prefixes(same.prefixes.texts());
  }

  /** The same target, for requests before the load. */
  Target in(LlmRun forWarmUp) {
    return new Target(this, forWarmUp);
  }

  PreparedRequest prepared(LlmRequest request, Session session) {
    return PreparedRequest.of(request, protocol, named.rejected, prefixes, session);
  }

  /** The trace id of a request of the load; null if it is not sampled. */
  @Nullable String traceId(String requestId) {
    if (!protocol.get(Setting.TRACE) || !run.isLoad()) {
      return null;
    }
    TraceContext trace = TraceContext.of(requestId);
    return isSampled(trace) ? trace.traceId() : null;
  }

  /** Its header; a request without a record of its trace tells the server to record none either. */
  String traceParent(String requestId, boolean isRecorded) {
    TraceContext trace = TraceContext.of(requestId);
    return trace.header(isRecorded && run.isLoad() && isSampled(trace));
  }

  private boolean isSampled(TraceContext trace) {
    return trace.isSampled(protocol.get(Setting.TRACE_SHARE));
  }

  Slo sloOf(LlmRequest request, String requestName) {
    return request.slo == null ? protocol.sloOf(requestName) : request.slo;
  }

  /** When the user of the request of that number leaves, in nanoseconds; null if it stays. */
  @Nullable Long leavesAfter(LlmRequest request, long index) {
    Abandonment leaving =
        request.abandonment == null ? protocol.get(Setting.ABANDON) : request.abandonment;
    return leaving == null || !run.isLoad()
        ? null
        : leaving.afterNanos(Seed.orOfProcess(protocol.seed()), index);
  }

  /** Leaves out a field that the target rejects; false where the user has named it, or again. */
  boolean leaveOut(AddedField rejected) {
    boolean isNamed =
        switch (rejected) {
          case CONTINUOUS_USAGE -> protocol.eventTokens() != null;
          case USAGE -> protocol.get(Setting.INCLUDE_USAGE) != null;
          case PINNING -> Boolean.TRUE.equals(protocol.get(Setting.IGNORE_EOS));
          case LIMIT_NAME -> protocol.maxTokensField() != null;
          case LIMIT -> protocol.maxTokensField() != null || protocol.get(ProtocolPart.LIMIT_NAMED);
        };
    boolean isLeftOut = !isNamed && named.rejected.add(rejected);
    if (isLeftOut) {
      PrintableText.print(StartCommand.typed(rejected.line(name)));
      all.describe();
    }
    return isLeftOut;
  }

  /** States what is known of the server; to the command {@code probe}, whose process then ends. */
  @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
  void tried(RequestRecord first, @Nullable Boolean isKept) {
    ServerFacts known =
        Objects.requireNonNull(server)
            .with(first, all.template(protocol), named.rejected, isKept, all.nextCommand());
    if (!StartCommand.isProbe()) {
      String line = known.line(name);
      if (!line.isEmpty()) {
        PrintableText.print(line);
      }
      return;
    }
    run.run.ending().refuse();
    System.exit(known.write());
  }
}
