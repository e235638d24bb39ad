package io.github.gatlingllm.action;

import io.gatling.core.action.Action;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.http.protocol.HttpComponents;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.Api.AddedField;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.client.ServerConnections;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.figures.level.AnswerCounts.TextCounts;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RequestStatus.GeneratorLimit;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.WeightedModel;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Real requests to the target before the load. Blocks the thread that builds the simulation. */
final class WarmUpRounds {

  /** Causes that state what to do. */
  private static final Pattern IN_CAUSE =
      Pattern.compile("\\?$|^proxy |: check |; use |; set |; add |; take |: raise ");

  /** A server that looks for a model has the path. */
  private static final Pattern NAMES_MODEL =
      Pattern.compile("\\bmodel\\b", Pattern.CASE_INSENSITIVE);

  private static final int SHORT_TOKENS = 16;

  /** As many as take about a tenth of a second. */
  private static final int CLASS_LOADING_REQUESTS = 5;

  static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final String PROMPT = "Say hello.";

  /** Longer templates, of a server that does not tell, are named. */
  private static final int MAX_TEMPLATE = 64;

  private final ScenarioContext context;
  private final HttpComponents http;
  private final ReadyWait wait;
  private final BlockingQueue<RequestRecord> ended = new LinkedBlockingQueue<>();

  private final LlmProtocol protocol;
  private final Target load;
  private final Target target;
  private final LlmRequest sent;
  private final boolean isOfLoad;
  private final Action action;

  /** The number until each URL has had a request for each model. */
  private final int tries;

  private int round;
  private @Nullable Long firstNanos;
  private boolean isBuilt = true;
  private @Nullable RequestRecord last;

  WarmUpRounds(ScenarioContext context, Target load, LlmRequest request) {
    this.context = context;
    this.load = load;
    protocol = load.protocol;
    target = load.in(load.run.forWarmUp(List.of(ended::add)));
    http = HttpCall.components(context);
    wait = load.named.wait;
    tries = WeightedModel.tries(protocol.models(), protocol.baseUrls().size());
    sent = warmUpRequest(request);
    isOfLoad = sent.maxTokens != null && sent.maxTokens.equals(request.maxTokens);
    action = action(target, sent);
  }

  /**
   * Sends the first real requests to the target, one after the other, to each of its URLs for each
   * of its models: what is wrong with the endpoint or a model is known before anything else is
   * done. Where the target rejects a field that we add, the run continues without. Not if these are
   * all: the last one is measured, in a warm JVM.
   */
  void tryEach() {
    if (protocol.get(Setting.WARMUP) > tries) {
      isBuilt = send(tries);
    }
  }

  /** Sends the other requests, and states what the last tells of the server. */
  void finish() {
    int rounds = Math.max(protocol.get(Setting.WARMUP), tries);
    RequestRecord latest = isBuilt && send(rounds) ? last : null;
    if (latest != null) {
      try {
        compare(latest.tokens(), rounds - 1L);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      load.tried(latest, isKept());
      if (isOfLoad) {
        measure(latest, rounds - 1);
      }
    }
    target.run.end();
  }

  /** Sends requests until this number was sent; false if they cannot be built before the load. */
  private boolean send(int rounds) {
    Map<String, String> failures = new LinkedHashMap<>();
    firstNanos = firstNanos == null ? (Long) System.nanoTime() : firstNanos;
    try {
      for (; round < rounds; round++) {
        String url = Secrets.redactUrl(protocol.url(round, sent.api));
        if (failures.containsKey(url)) {
          continue;
        }
        RequestRecord record = sendAndAwait(action, round);
        while (isStarting(record) && wait.again(url, cause(record))) {
          record = sendAndAwait(action, round);
        }
        AddedField rejected = AddedField.rejectedBy(error(record));
        while (rejected != null && load.leaveOut(rejected)) {
          record = sendAndAwait(action, round);
          rejected = AddedField.rejectedBy(error(record));
        }
        if (record != null && record.outcome().status() == RequestStatus.NOT_BUILT) {
          PrintableText.print(
              "LLM: %s is not tried before the load (%s); warmUp(1, Map.of(…)) sets attributes"
                  .formatted(load.name, record.outcome().error()));
          return false;
        }
        if (record == null || !record.outcome().ok()) {
          boolean isOneOfSeveral = tries > protocol.baseUrls().size();
          failures.put(url, failure(load.name, url, isOneOfSeveral, record));
        } else {
          answered(record.timing(), firstNanos);
        }
        last = record;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!failures.isEmpty()) {
      throw InvalidSimulation.failed(failures.values());
    }
    return true;
  }

  /** Requests to an engine in this JVM, so that the only one to the server loads no classes. */
  void loadClasses() {
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().fixed(Duration.ofMillis(1), Duration.ofMillis(1)).start()) {
      Target inside =
          new Target(load.all, target.run, protocol.forJvmWarmUp(engine.baseUrl()), null);
      Action loading = action(inside, shortRequest(sent.api));
      for (int i = 0; i < CLASS_LOADING_REQUESTS; i++) {
        var unused = sendAndAwait(loading, i);
      }
    } catch (IllegalStateException e) { // no port for the engine: the first token is later
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether servers keep connections open; null without waiting, which only a probe does. */
  private @Nullable Boolean isKept() {
    if (!StartCommand.isProbe()) {
      return null;
    }
    try {
      var unused = await(ServerConnections.RIGHT_AFTER_NANOS); // nothing more is sent
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return target.run.totals.servers.values().stream()
        .noneMatch(ServerConnections::hasClosedRightAfter);
  }

  /**
   * States before the load where the server counts another number than the prompts were sized by.
   */
  private void compare(RequestRecord.Tokens tokens, long userId) throws InterruptedException {
    Integer server = tokens.promptTokens();
    Integer local = tokens.promptTokensLocal();
    String lengths = load.all.promptLengths(load);
    if (server == null || local == null || lengths == null) {
      return;
    }
    Integer template = load.all.template(protocol);
    // Of prompts of several lengths the load tells, and what counts characters tells nothing.
    boolean hasOneLength =
        lengths.matches("\\d+") && !protocol.tokenizer().name().startsWith("chars");
    if (template == null && hasOneLength && sent.api.takesMessages()) {
      RequestRecord.Tokens ofShort = shortTokens(userId);
      template =
          ofShort == null
              ? null
              : template(server, local, ofShort.promptTokensLocal(), ofShort.promptTokens());
      if (template != null) {
        load.named.template = template;
        load.all.describe();
        PrintableText.print(
            "LLM: %s counts %s%s more tokens in each prompt, of its chat template"
                .formatted(load.name, server == local + template ? "" : "about ", template));
      }
    }
    int expected = local + (template == null ? 0 : template);
    int unexplained = template == null ? MAX_TEMPLATE : 0;
    boolean isMore = server - expected > Math.max(unexplained, expected / 100);
    if (isMore || server < expected - expected / 100) {
      PrintableText.print(
          StartCommand.typed(
              "LLM WARNING: %s counts %s prompt tokens where %s were expected by %s; set the tokenizer of the model: llm.tokenizer=server or hf:<owner>/<name>"
                  .formatted(load.name, server, expected, protocol.tokenizer().name())));
    }
  }

  /**
   * What a server adds to a prompt of any length, by its counts of a long and of a short one; null
   * where they do not tell.
   */
  static @Nullable Integer template(
      int server, int local, @Nullable Integer shortLocal, @Nullable Integer shortServer) {
    if (shortServer == null || shortLocal == null || local < 4 * shortLocal) {
      return null;
    }
    TextCounts counts = new TextCounts();
    counts.add(server, local);
    counts.add(shortServer, shortLocal);
    Long template = counts.atLengthZero();
    return template == null || template < 0 ? null : (Integer) template.intValue();
  }

  private RequestRecord.@Nullable Tokens shortTokens(long userId) throws InterruptedException {
    LlmRequest shortOne =
        shortRequest(sent.api)
            .with(
                draft -> {
                  draft.model = sent.model;
                  draft.headers = sent.headers;
                  draft.maxTokens = Dynamic.of(1);
                });
    RequestRecord record = sendAndAwait(action(target, shortOne), userId);
    return record == null || !record.outcome().ok() ? null : record.tokens();
  }

  /** The last request is the single-stream peak, unless it is shorter than those of the load. */
  private void measure(RequestRecord alone, int before) {
    Integer tokens = alone.tokens().n();
    Long nanos = alone.timing().latencyNanos();
    if (tokens != null && tokens > 0 && nanos != null && nanos > 0) {
      SingleStream peak = new SingleStream(tokens, nanos / 1e9, before);
      load.run.run.describe(
          info -> {
            Map<String, SingleStream> all = new LinkedHashMap<>(info.outcome().singleStreams());
            all.put(load.name, peak);
            return info.singleStreams(all);
          });
    }
  }

  /** Keeps the time to the first answer: of a server that had to start, its cold start. */
  private void answered(RequestRecord.Timing timing, long firstRequestNanos) {
    Long sent = timing.admittedUnixNanos();
    Long first = timing.ttftNanos() == null ? timing.latencyNanos() : timing.ttftNanos();
    if (sent != null && first != null) {
      long since = load.run.run.unixNanos(wait.waitedSince(firstRequestNanos));
      load.run.run.describe(
          info -> {
            Map<String, Double> all = new LinkedHashMap<>(info.outcome().firstAnswers());
            all.putIfAbsent(load.name, (sent + first - since) / 1e9);
            return info.firstAnswers(all);
          });
    }
  }

  private static String failure(
      String target, String url, boolean isOneOfSeveral, @Nullable RequestRecord record) {
    String cause = cause(record);
    RequestStatus status = record == null ? RequestStatus.TIMEOUT : record.outcome().status();
    Integer http = record == null ? null : record.outcome().httpStatus();
    String model = record == null || !isOneOfSeveral ? null : record.identity().model();
    String remedy = remedy(url, status, http, cause);
    String end = StartCommand.isProbe() ? "" : " No load was sent; warmup=0 skips this request";
    return "LLM %s to %s (%s) failed: %s"
        .formatted(
            StartCommand.isProbe() ? "request" : "warm-up request",
            target,
            url + (model == null ? "" : ", model " + model),
            (sentence(cause) + sentence(remedy)).stripTrailing() + end);
  }

  private static String cause(@Nullable RequestRecord record) {
    if (record == null) {
      return "no answer";
    }
    String error = record.outcome().error();
    return error == null ? record.outcome().status().key() : error;
  }

  /** Whether a server may answer so that still loads its model, or the proxy before it. */
  private static boolean isStarting(@Nullable RequestRecord record) {
    if (record == null) {
      return true;
    }
    Integer http = record.outcome().httpStatus();
    return switch (record.outcome().status()) {
      case CONNECTION_ERROR, TIMEOUT, STALLED -> true;
      case HTTP_ERROR -> http != null && http >= 500;
      default -> false;
    };
  }

  private static String sentence(String text) {
    return text.isEmpty() ? "" : text + (text.matches(".*[.?…]") ? " " : ". ");
  }

  private static String error(@Nullable RequestRecord record) {
    String error = record == null ? null : record.outcome().error();
    return error == null ? "" : error;
  }

  private @Nullable RequestRecord sendAndAwait(Action action, long userId)
      throws InterruptedException {
    EventLoop eventLoop = context.coreComponents().eventLoopGroup().next();
    Session session = session(userId, eventLoop);
    eventLoop.execute(() -> action.$bang(session));
    return await(protocol.get(Setting.TIMEOUT).toNanos() + GRACE_NANOS);
  }

  private @Nullable RequestRecord await(long nanos) throws InterruptedException {
    return ended.poll(nanos, TimeUnit.NANOSECONDS);
  }

  /** The request without its checks; a short one where it cannot be built for a new user. */
  private LlmRequest warmUpRequest(LlmRequest request) {
    LlmRequest plain =
        request.with(
            draft -> {
              draft.checks = List.of();
              draft.isSilent = false;
              draft.maxTokens =
                  draft.maxTokens == null ? Dynamic.of(SHORT_TOKENS) : draft.maxTokens;
            });
    Session session = session(0, context.coreComponents().eventLoopGroup().next());
    try {
      plain.headers.values().forEach(header -> header.resolve(session));
      var unused = target.prepared(plain, session);
      return plain;
    } catch (IllegalArgumentException e) {
      return shortRequest(request.api)
          .with(
              draft -> {
                draft.model = request.model;
                draft.headers = request.headers;
              });
    }
  }

  static LlmRequest shortRequest(Api api) {
    return new LlmRequest(Dynamic.of("warm-up"), api)
        .with(
            draft -> {
              draft.maxTokens = Dynamic.of(SHORT_TOKENS);
              draft.prompt = Dynamic.of(PROMPT);
            });
  }

  private Action action(Target of, LlmRequest request) {
    StatsEngine statsEngine = context.coreComponents().statsEngine();
    return new LlmAction(
        request, of, context, UserSessions.step("warm-up-end", statsEngine, Session::exit));
  }

  private Session session(long userId, EventLoop eventLoop) {
    return UserSessions.outsideLoad("warm-up", userId, http, protocol, eventLoop);
  }

  /** What to do; empty where the cause states it, or is a limit of the load generator. */
  static String remedy(String url, RequestStatus status, @Nullable Integer http, String cause) {
    if (GeneratorLimit.of(cause) != null || IN_CAUSE.matcher(cause).find()) {
      return "";
    }
    Api api = Api.ofPath(url);
    boolean isRare = api != null && !api.generates() && url.endsWith("/v1" + api.path());
    return Sentence.text(
        "warm_up.remedy",
        status.key(),
        status == RequestStatus.HTTP_ERROR ? http : null,
        NAMES_MODEL.matcher(cause).find(),
        isRare ? api.key() : null);
  }
}
