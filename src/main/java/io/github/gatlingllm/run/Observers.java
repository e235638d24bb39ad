package io.github.gatlingllm.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.HookCall;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.storage.S3Location;
import io.netty.util.concurrent.EventExecutor;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The observers of a run, from the settings of the process. A run without one of the lines in
 * {@link #of} completes, with all its records.
 *
 * @param page address of the live page; null for none
 * @param otlp URL to which meters are sent; null for none
 * @param otlpTraces URL to which spans are sent; null for none
 */
public record Observers(
    @Nullable Address page,
    @Nullable String otlp,
    @Nullable URI otlpTraces,
    @Nullable S3Location upload) {

  /** The address of the live page; {@code LLM_LIVE} in the environment. */
  public static final String PAGE_PROPERTY = "llm.live";

  /** The URL to which meters are sent; {@code LLM_OTLP} in the environment. */
  public static final String OTLP_PROPERTY = "llm.otlp";

  /** The URL to which spans are sent; {@code LLM_OTLP_TRACES} in the environment. */
  public static final String OTLP_TRACES_PROPERTY = "llm.otlpTraces";

  /** Where the run is uploaded to; {@code LLM_UPLOAD} in the environment. */
  public static final String UPLOAD_PROPERTY = "llm.upload";

  public record Address(String host, int port) {

    private static final String THIS_MACHINE = "127.0.0.1";

    private static final Pattern FORM =
        Pattern.compile("(?:([\\d.]+|\\[[\\da-fA-F:]+\\]):)?(\\d{1,5})");

    /** Reads {@code 8088}, {@code 0.0.0.0:8088}, {@code [::]:8088}. */
    public static Address parse(String text) {
      Matcher form = FORM.matcher(text);
      if (!form.matches() || Integer.parseInt(form.group(2)) > 65_535) {
        throw new IllegalArgumentException(
            "expected a port, or <IP address>:<port>; port 0 takes any free port");
      }
      return new Address(
          Objects.requireNonNullElse(form.group(1), THIS_MACHINE), Integer.parseInt(form.group(2)));
    }

    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  /** Checks also that an upload can work, as far as possible without writing. */
  public static Observers ofProcess() {
    Observers observers = of(System.getProperties(), System.getenv());
    UploadObserver.check(observers.upload);
    return observers;
  }

  static Observers of(Map<?, ?> properties, Map<String, String> environment) {
    return new Observers(
        new ProcessSetting(PAGE_PROPERTY).read(properties, environment, Address::parse),
        new ProcessSetting(OTLP_PROPERTY).text(properties, environment),
        new ProcessSetting(OTLP_TRACES_PROPERTY).read(properties, environment, TraceContext::url),
        new ProcessSetting(UPLOAD_PROPERTY).read(properties, environment, S3Location::parse));
  }

  List<RunObserver> of(Run run, Iterable<? extends EventExecutor> eventLoops) {
    GenAiMeters meters = meters(run);
    LiveView live = page == null ? null : new LiveView(run, page, meters);
    return Stream.of(
            new RunConsole(run),
            new GeneratorLog(run, eventLoops),
            new ServerWatch(run),
            live,
            meters,
            otlpTraces == null ? null : TraceSpans.of(run.id(), otlpTraces),
            upload == null ? null : new UploadObserver(run, upload))
        .filter(Objects::nonNull)
        .toList();
  }

  /** Null without Micrometer too, an optional dependency that the class of the meters needs. */
  private @Nullable GenAiMeters meters(Run run) {
    try {
      return GenAiMeters.open(run.id(), run::inFlight, this, PrintableText::print);
    } catch (NoClassDefFoundError noMicrometer) {
      if (otlp != null) {
        PrintableText.print(
            "LLM otlp: no meters are sent; add io.micrometer:micrometer-registry-otlp to the class"
                + " path");
      }
      return null;
    }
  }

  /**
   * The W3C trace context of a request, by which a server's spans are below its own. Both ids are
   * parts of a hash of the request's id, so that the trace id in a record is enough for the span.
   */
  public record TraceContext(String traceId, String spanId) {

    private static final int TRACE_DIGITS = 32;
    private static final int DIGITS = TRACE_DIGITS + 16;

    /** As in OpenTelemetry's consistent sampling: the last 56 bits of a trace id are its draw. */
    private static final int DRAW_DIGITS = 14;

    private static final Pattern PERCENT = Pattern.compile("(\\d{1,3}(?:\\.\\d{1,9})?) ?%");

    public static TraceContext of(String requestId) {
      String digits = DataFile.sha256(requestId);
      return new TraceContext(
          digits.substring(0, TRACE_DIGITS), digits.substring(TRACE_DIGITS, DIGITS));
    }

    /** Reads {@code 1%}; 0 to 1. */
    public static Double share(String text) {
      Matcher percent = PERCENT.matcher(text);
      double share = percent.matches() ? Double.parseDouble(percent.group(1)) / 100 : 0;
      if (!(share > 0 && share <= 1)) {
        throw new IllegalArgumentException("expected a percentage above 0 % and up to 100 %");
      }
      return share;
    }

    /** Whether it is an address that OTLP is posted to, which has a path. */
    static boolean isCollector(String url) {
      return url.matches("https?://[^/]+/.*");
    }

    /** Reads the URL of a collector. */
    public static URI url(String text) {
      if (!isCollector(text)) {
        throw new IllegalArgumentException(
            "expected a URL such as http://localhost:4318/v1/traces");
      }
      return URI.create(text);
    }

    /** Whether it is one of that share of all traces, 0 to 1. */
    public boolean isSampled(double share) {
      String draw = traceId.substring(TRACE_DIGITS - DRAW_DIGITS);
      return Long.parseLong(draw, 16) < share * (1L << (4 * DRAW_DIGITS));
    }

    /** The header {@code traceparent}; servers record no spans of a trace that is not sampled. */
    public String header(boolean isSampled) {
      return "00-%s-%s-0%s".formatted(traceId, spanId, isSampled ? 1 : 0);
    }
  }

  /**
   * A metrics page in Prometheus text format. If it was only guessed ({@code isSet} is false) and
   * has no metrics of an engine, it is not requested again; otherwise failures are recorded.
   *
   * @param role of its server where prefill and decode have servers of their own; else null
   */
  public record MetricsPage(
      String target,
      @Nullable String role,
      URI uri,
      String shown,
      Map<String, String> headers,
      boolean verifyTls,
      boolean isSet) {

    /** Setting: {@code <host>/metrics} of each target, if it has metrics of an engine. */
    public static final String AUTO = "auto";

    public static final String NONE = "none";

    /** Before the URL of a page: the role of its server. */
    private static final Pattern ROLE = Pattern.compile("(prefill|decode)=(.+)");

    /** Where an entry of a list of models has it: what the server was started with comes first. */
    private static final List<String> CONTEXT =
        List.of(
            "/max_model_len", // vLLM, SGLang
            "/meta/n_ctx", // llama.cpp, of a slot
            "/meta/n_ctx_train", // llama.cpp, older
            "/context_length",
            "/context_window",
            "/max_context_length");

    /** The accepted values, for error messages. */
    public static final String FORMS = "auto, none, or URLs such as http://localhost:9400/metrics";

    /** A page without a role. */
    public MetricsPage(
        String target,
        URI uri,
        String shown,
        Map<String, String> headers,
        boolean verifyTls,
        boolean isSet) {
      this(target, null, uri, shown, headers, verifyTls, isSet);
    }

    /** The entry of a page whose server has a role; null for another name. */
    public static @Nullable String inRole(@Nullable String name, String url) {
      String text = name + "=" + url;
      return ROLE.matcher(text).matches() ? text : null;
    }

    /** The longest prompt with its answer, in tokens, by a model's entry in {@code /models}. */
    public static @Nullable Integer contextOf(JsonNode model) {
      return CONTEXT.stream()
          .map(model::at)
          .filter(tokens -> tokens.isInt() && tokens.intValue() > 0)
          .map(JsonNode::intValue)
          .findFirst()
          .orElse(null);
    }

    /**
     * The pages of a target.
     *
     * @param secrets headers that authenticate at the target; sent only to pages of the same
     *     scheme, host and port
     */
    public static List<MetricsPage> of(
        String target,
        List<String> settings,
        List<String> baseUrls,
        Map<String, String> secrets,
        boolean verifyTls) {
      List<MetricsPage> pages = new ArrayList<>();
      Set<String> origins = new LinkedHashSet<>();
      baseUrls.forEach(url -> origins.add(origin(URI.create(url))));
      Map<String, @Nullable String> urls = new LinkedHashMap<>();
      for (String setting : settings) {
        Matcher role = ROLE.matcher(setting);
        if (setting.equals(AUTO)) {
          origins.forEach(origin -> urls.putIfAbsent(origin + "/metrics", null));
        } else if (role.matches()) {
          urls.put(role.group(2), role.group(1));
        } else {
          urls.putIfAbsent(setting, null);
        }
      }
      for (String url : urls.keySet()) {
        URI uri = URI.create(url);
        Map<String, String> headers = new LinkedHashMap<>();
        if (origins.contains(origin(uri))) {
          headers.putAll(secrets);
        }
        String user = uri.getUserInfo();
        if (user != null) {
          byte[] login = user.getBytes(UTF_8);
          headers.put("Authorization", "Basic " + Base64.getEncoder().encodeToString(login));
        }
        String bare = user == null ? url : url.replaceFirst("//[^/?#@]*@", "//");
        boolean isSet = settings.contains(url) || urls.get(url) != null;
        pages.add(
            new MetricsPage(
                target,
                urls.get(url),
                URI.create(bare),
                Secrets.redactUrl(bare),
                Map.copyOf(headers),
                verifyTls,
                isSet));
      }
      return pages;
    }

    public static List<String> check(List<String> settings) {
      if (settings.equals(List.of(NONE))) {
        return List.of();
      }
      for (String setting : settings) {
        Matcher role = ROLE.matcher(setting);
        if (!setting.equals(AUTO) && !isUrl(role.matches() ? role.group(2) : setting)) {
          throw new IllegalArgumentException("expected " + FORMS);
        }
      }
      return List.copyOf(settings);
    }

    private static boolean isUrl(String text) {
      try {
        URI uri = URI.create(text);
        return ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
            && uri.getHost() != null;
      } catch (IllegalArgumentException e) {
        return false;
      }
    }

    private static String origin(URI uri) {
      return uri.getScheme()
          + "://"
          + uri.getHost()
          + (uri.getPort() < 0 ? "" : ":" + uri.getPort());
    }

    public CompletableFuture<String> text(Duration timeout) {
      return new PageClient(timeout).get(this);
    }

    /** Whether the server agrees to HTTP/2 by ALPN, which is possible over https only. */
    public boolean isHttp2(Duration timeout) {
      return "https".equals(uri.getScheme())
          && new PageClient(timeout, HttpClient.Version.HTTP_2)
              .send("GET", this)
              .handle(
                  (page, failure) -> page != null && page.version() == HttpClient.Version.HTTP_2)
              .join();
    }

    /** Posts JSON to pages, whose answers are texts. */
    public static BiFunction<MetricsPage, String, CompletableFuture<String>> posting(
        Duration timeout) {
      return new PageClient(timeout)::post;
    }

    /** Leaves out the headers, which may be secret. */
    @Override
    public String toString() {
      return shown;
    }
  }

  /**
   * Requests to a target before and after its load levels, one after the other, such as {@code POST
   * /reset_prefix_cache}. A level before which one failed would measure something else: the run
   * ends. Those above a number of requests in flight are sent while the level runs, and the ones
   * after it only then.
   *
   * @param measuring called when a level begins to measure
   * @param afterLast called after the last level; the plan ends by its task
   */
  public record LevelHooks(
      List<LevelCall> before,
      List<LevelCall> after,
      Duration timeout,
      Consumer<RunningLevel> measuring,
      Consumer<Runnable> afterLast) {

    public static final LevelHooks NONE =
        new LevelHooks(List.of(), List.of(), Duration.ZERO, level -> {}, Runnable::run);

    /** Sends them on a separate thread, which then continues; ends the run after a failure. */
    void before(
        String level, Run run, @Nullable String failedAfter, Consumer<List<HookCall>> then) {
      if (failedAfter != null) {
        // On a thread of its own, as what ends the run waits for the lock of the caller.
        start(() -> end(run, failedAfter, "beforeLevel or afterLevel"));
        return;
      }
      List<LevelCall> calls = before.stream().filter(call -> call.hook.isFor(level)).toList();
      send(calls, false, level, run, failure -> end(run, failure, "beforeLevel"), then);
    }

    /** The same; what fails is told, as the level is measured. */
    void after(
        RunningLevel level, Run run, Consumer<String> failed, Consumer<List<HookCall>> then) {
      List<LevelCall> calls =
          after.stream()
              .filter(
                  call ->
                      call.hook.above == null
                          ? call.hook.isFor(level.label())
                          : level.wasAbove(call.hook.above))
              .toList();
      send(calls, true, level.label(), run, failed, then);
    }

    /**
     * Sends those above a number of requests in flight once that is exceeded; never on the thread
     * that exceeds it, which is an event loop. {@code then} is called before the first is sent.
     */
    void during(
        RunningLevel level,
        Run run,
        Consumer<String> failed,
        Consumer<CompletableFuture<List<HookCall>>> then) {
      Map<Integer, List<LevelCall>> byNumber =
          before.stream()
              .filter(call -> call.hook.above != null)
              .collect(groupingBy(call -> requireNonNull(call.hook.above)));
      byNumber.forEach(
          (above, calls) ->
              level.whenAbove(
                  above,
                  () -> {
                    CompletableFuture<List<HookCall>> sent = new CompletableFuture<>();
                    then.accept(sent);
                    send(calls, false, level.label(), run, failed, sent::complete);
                  }));
    }

    private void send(
        List<LevelCall> calls,
        boolean isAfter,
        String level,
        Run run,
        Consumer<String> failed,
        Consumer<List<HookCall>> then) {
      if (calls.isEmpty()) {
        then.accept(List.of());
      } else {
        start(() -> then.accept(sent(calls, isAfter, level, run, failed)));
      }
    }

    private static void start(Runnable task) {
      Thread thread = new Thread(task, "llm-between-levels");
      thread.setDaemon(true);
      thread.start();
    }

    private List<HookCall> sent(
        List<LevelCall> calls, boolean isAfter, String level, Run run, Consumer<String> failed) {
      List<HookCall> sent = new ArrayList<>();
      PageClient client = new PageClient(timeout);
      for (LevelCall call : calls) {
        Integer above = call.hook.above;
        String when =
            isAfter
                ? "after"
                : above == null ? "before" : "with more than " + above + " running in";
        long start = System.nanoTime();
        try {
          int status = client.send(call.hook.method, call.page).join().statusCode();
          double seconds = (System.nanoTime() - start) / 1e9;
          HookCall ended = new HookCall(call.toString(), status, seconds, isAfter, above);
          sent.add(ended);
          if (status / 100 != 2) {
            throw new CompletionException("HTTP " + status, null);
          }
          run.message("LLM " + when + " " + level + ": " + call + ": HTTP " + status);
        } catch (CompletionException e) {
          failed.accept("%s %s level %s failed: %s".formatted(call, when, level, e.getMessage()));
        }
      }
      return sent;
    }

    /** The report is made of what there is, as after a signal. */
    @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
    private static void end(Run run, String failure, String setting) {
      run.describe(info -> info.config("failed", failure));
      PrintableText.print(
          "LLM: " + failure + ". The run ends here; look at the server, or correct " + setting);
      System.exit(1);
    }
  }

  /** A hook and the URL that it is sent to. */
  public record LevelCall(Hook hook, MetricsPage page) {
    @Override
    public String toString() {
      return hook.method + " " + page;
    }
  }

  /**
   * A method, a path of the server or a URL, and what it is for, if not for every level.
   *
   * @param level the label of the only level it is for
   * @param above a number of requests in flight: only for levels that exceed it
   */
  public record Hook(String method, String path, @Nullable String level, @Nullable Integer above) {

    private static final Pattern FORM =
        Pattern.compile("([A-Z]+):((?:https?://[^/]+)?/\\S*?)(?:@([^@/?&]+))?");

    private static final Pattern ABOVE = Pattern.compile("running>(\\d{1,7})");

    public static Hook parse(String text) {
      Matcher form = FORM.matcher(text);
      if (!form.matches()) {
        throw new IllegalArgumentException(
            "'%s' is not a request; expected a method and a path such as POST:/reset_prefix_cache"
                .formatted(text));
      }
      String path = URI.create(form.group(2)).toString();
      String only = form.group(3);
      if (only == null || !only.startsWith("running")) {
        return new Hook(form.group(1), path, only, null);
      }
      Matcher above = ABOVE.matcher(only);
      if (!above.matches()) {
        throw new IllegalArgumentException(
            "'@%s' is not a condition; expected a number of requests in flight such as @running>64"
                .formatted(only));
      }
      return new Hook(form.group(1), path, null, Integer.valueOf(above.group(1)));
    }

    public static List<Hook> all(String... texts) {
      return Stream.of(texts).map(Hook::parse).toList();
    }

    /** Without secrets in URLs. */
    public static String texts(List<Hook> hooks) {
      return hooks.stream().map(hook -> Secrets.redactUrl(hook.toString())).collect(joining(","));
    }

    /** Whether it is sent at a level or a repeat of it, whatever is in flight. */
    boolean isFor(String label) {
      return above == null
          && (level == null || level.equals(label) || level.equals(LevelInfo.unnumbered(label)));
    }

    @Override
    public String toString() {
      String only = above == null ? level : "running>" + above;
      return method + ":" + path + (only == null ? "" : "@" + only);
    }
  }
}
