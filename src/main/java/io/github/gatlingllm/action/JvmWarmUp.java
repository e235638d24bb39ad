package io.github.gatlingllm.action;

import static java.time.Duration.ofNanos;
import static java.util.Objects.requireNonNull;

import io.gatling.core.CoreComponents;
import io.gatling.core.action.Action;
import io.gatling.core.action.SessionHook;
import io.gatling.core.session.Session;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.http.protocol.HttpComponents;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.figures.level.LiveStats;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.settings.Setting;
import io.netty.channel.EventLoop;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * Compiles the code of the load before it starts: users of a load plan send requests to an engine
 * in this JVM. They pass the classes of the load in the states of the load, and where these vary,
 * in several: what is compiled for one type of session or for one branch only is discarded when the
 * load brings another, and compiled again while latencies are measured.
 */
final class JvmWarmUp implements PlanDriver.Users {

  private static final int USERS = 32;

  /** One of this number of users gets a new connection for each request. */
  private static final int NEW_CONNECTION = 8;

  /** A class per number of them has the attributes, up to four. */
  private static final int SESSION_CLASSES = 3;

  /** As texts differ in how the JVM stores them, and requests in where they take them from. */
  private static final String LATIN = "Say hello. ".repeat(100);

  private static final String OTHER = "Say hello – “now”. ".repeat(60);

  /** A method in the text of the JVM's command. */
  private static final Pattern METHOD = Pattern.compile("::");

  private final CoreComponents core;
  private final HttpComponents http;
  private final BlockingQueue<RequestRecord> ended = new LinkedBlockingQueue<>();
  private final LiveStats live = new LiveStats(System::nanoTime);
  private final Queue<Session> paused = new ConcurrentLinkedQueue<>();
  private final AtomicLong userIds = new AtomicLong();
  private final LlmRun run;
  private final JitActivity jit;
  private final PlanDriver driver;
  private volatile boolean isSending = true;
  private final List<Action> bodies = new ArrayList<>();
  private @Nullable Action connecting;

  @SuppressWarnings("UnnecessaryLambda") // three classes, as the load has another
  private JvmWarmUp(ScenarioContext context, LlmRun load) {
    core = context.coreComponents();
    http = HttpCall.components(context);
    run = load.forWarmUp(List.of(r -> ended.add(r), r -> ended.add(r), r -> ended.add(r)));
    jit = JitActivity.ofThisJvm(run::numbered);
    EventLoop timers = core.eventLoopGroup().next();
    LoadLevel.Phases endless = new LoadLevel.Phases(0L, 0L, 0, false, 0, Integer.MAX_VALUE);
    driver =
        new PlanDriver(
            new LoadPlan.Sweep(List.of(new LoadLevel.Closed(USERS, endless))).source(),
            System::nanoTime,
            (task, nanoTime) -> EventLoops.at(timers, nanoTime, task),
            this,
            new RunningLevel.Listener() {},
            level -> null,
            false);
  }

  static void run(ScenarioContext context, Target load, Api api) {
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().fixed(ofNanos(1_000_000), ofNanos(200_000)).seed(1).start()) {
      new JvmWarmUp(context, load.run).run(context, load, api, engine.baseUrl());
    } catch (IllegalStateException e) { // no port for the engine
      PrintableText.print(failed(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run(ScenarioContext context, Target load, Api api, String url)
      throws InterruptedException {
    LlmProtocol shared = load.protocol.forJvmWarmUp(url);
    LlmProtocol perUser = shared.with(Setting.CONNECTIONS, "perUser");
    Target inside = new Target(load.all, run, shared, null);
    LlmRequest request = WarmUpRounds.shortRequest(api);
    List<Dynamic<String>> prompts =
        List.of(
            Dynamic.of(LATIN),
            Dynamic.of(session -> OTHER),
            Dynamic.of(session -> LATIN),
            Dynamic.of(session -> session.contains(OTHER) ? LATIN : OTHER),
            Dynamic.el(OTHER + LATIN, String.class));
    for (Dynamic<String> prompt : prompts) {
      bodies.add(new Loop(inside, request.with(draft -> draft.prompt = prompt), context).body);
    }
    connecting = new Loop(new Target(load.all, run, perUser, null), request, context).body;
    driver.begin();
    RequestRecord failed = null;
    while (failed == null && jit.isWarmingUp()) {
      isSending = jit.isSending();
      for (Session next = isSending ? paused.poll() : null; next != null; next = paused.poll()) {
        iterate(next);
      }
      failed = firstFailed(JitActivity.POLL_NANOS);
    }
    isSending = false;
    long end = System.nanoTime() + WarmUpRounds.GRACE_NANOS;
    while (failed == null && paused.size() < USERS && System.nanoTime() < end) {
      failed = firstFailed(JitActivity.POLL_NANOS);
    }
    run.end();
    PrintableText.print(
        failed == null
            ? "LLM warm-up of the JVM: "
                + run.numbered()
                + " requests, "
                + jit
                + ", to an engine inside"
            : failed(failed.outcome().error()));
  }

  /** Passes records through codec and live figures until one has failed, or none comes. */
  private @Nullable RequestRecord firstFailed(long nanos) throws InterruptedException {
    RequestRecord record = ended.poll(nanos, TimeUnit.NANOSECONDS);
    while (record != null && (record.outcome().ok() || record.outcome().status().isCut())) {
      var unused = RecordFile.line(record);
      live.accept(record);
      record = ended.poll();
    }
    return record;
  }

  private static String failed(@Nullable String why) {
    return "LLM warm-up of the JVM failed (" + why + "); the first requests will be slower";
  }

  @Override
  public void start() {
    int index = (int) userIds.incrementAndGet();
    EventLoop eventLoop = core.eventLoopGroup().next();
    Session session =
        http.onStart().apply(UserSessions.fresh("warm-up", index, http.onExit(), eventLoop));
    PlanUser user = new PlanUser(driver, null, "warm-up", 0);
    boolean isFirst = index % 2 == 0;
    session = isFirst ? user.in(session) : session;
    for (int i = 0; i < index % SESSION_CLASSES; i++) {
      session = session.set("warm-up " + i, i);
    }
    Session own = isFirst ? session : user.in(session);
    EventLoops.execute(eventLoop, () -> iterate(own));
  }

  @Override
  public void start(Arrival arrival) {
    throw new IllegalStateException("a closed loop has no arrivals");
  }

  @Override
  public void allStarted() {}

  private void iterate(Session session) {
    boolean isConnecting = session.userId() % NEW_CONNECTION == 0;
    Action body =
        isConnecting
            ? requireNonNull(connecting)
            : bodies.get((int) (session.userId() % bodies.size()));
    EventLoops.execute(
        session.eventLoop(), () -> PlanUser.of(session).iterate(session, body, body));
  }

  /** After a request of a user: the next one, or a pause while the compilers work. */
  private final class Loop extends SessionHook {

    final Action body;
    private final boolean isConnecting;

    Loop(Target target, LlmRequest request, ScenarioContext context) {
      super(null, "warm-up", core.statsEngine(), null);
      isConnecting = !target.protocol.shareConnections();
      body = new LlmAction(request, target, context, this);
    }

    @Override
    public void execute(Session session) {
      if (isConnecting) {
        http.onExit().apply(session); // closes its connection
      }
      if (isSending) {
        PlanUser.of(session).iterate(session, body, body);
      } else {
        paused.add(session);
      }
    }
  }

  /**
   * Decides when requests warm up the JVM: some for each user; then the compilers work through what
   * these gave them, with all CPU time there is; then again. It ends when requests gave the
   * compilers next to nothing, after 10 s at most. How long requests take decides nothing: methods
   * are compiled after a number of calls.
   */
  static final class JitActivity {

    static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(10);
    static final long UNKNOWN_NANOS = TimeUnit.MILLISECONDS.toNanos(2_500);
    static final long SLICE = 10L * USERS;
    static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    static final long IDLE_MILLIS = 10;

    private static final int UNKNOWN = -1;

    private final LongSupplier nanoClock;
    private final LongSupplier compilerMillis;
    private final IntSupplier queue;
    private final LongSupplier requests;
    private final long startNanos;
    private long polledNanos;
    private long sliceStart;
    private long sendingMillis;
    private int waiting;
    private boolean isSending = true;
    private boolean isWarm;

    /**
     * @param queue methods that are being compiled or wait for it; -1 if the JVM does not state it
     * @param requests that were sent
     */
    JitActivity(
        LongSupplier nanoClock,
        LongSupplier compilerMillis,
        IntSupplier queue,
        LongSupplier requests) {
      this.nanoClock = nanoClock;
      this.compilerMillis = compilerMillis;
      this.queue = queue;
      this.requests = requests;
      startNanos = nanoClock.getAsLong();
      polledNanos = startNanos;
      sliceStart = requests.getAsLong();
      sendingMillis = compilerMillis.getAsLong();
    }

    static JitActivity ofThisJvm(LongSupplier requests) {
      CompilationMXBean bean = ManagementFactory.getCompilationMXBean();
      boolean isReported = bean != null && bean.isCompilationTimeMonitoringSupported();
      return new JitActivity(
          System::nanoTime,
          () -> isReported ? bean.getTotalCompilationTime() : UNKNOWN,
          JitActivity::queueOfThisJvm,
          requests);
    }

    private static int queueOfThisJvm() {
      try {
        Object queue =
            ManagementFactory.getPlatformMBeanServer()
                .invoke(
                    new ObjectName("com.sun.management:type=DiagnosticCommand"),
                    "compilerQueue",
                    null,
                    null);
        return (int) METHOD.matcher(String.valueOf(queue)).results().count();
      } catch (JMException e) {
        return UNKNOWN;
      }
    }

    /** To be called many times per second. */
    boolean isWarmingUp() {
      long now = nanoClock.getAsLong();
      if (now - polledNanos >= POLL_NANOS) {
        polledNanos = now;
        waiting = queue.getAsInt();
        step();
      }
      long max = waiting == UNKNOWN ? UNKNOWN_NANOS : MAX_NANOS;
      return !isWarm && now - startNanos < max;
    }

    private void step() {
      if (isSending) {
        isSending = waiting == UNKNOWN || requests.getAsLong() - sliceStart < SLICE;
      } else if (waiting <= 0) {
        long millis = compilerMillis.getAsLong();
        isWarm = waiting == 0 && millis - sendingMillis <= IDLE_MILLIS;
        isSending = true;
        sliceStart = requests.getAsLong();
        sendingMillis = millis;
      }
    }

    boolean isSending() {
      return isSending && isWarmingUp();
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%.1f s%s",
          (nanoClock.getAsLong() - startNanos) / 1e9,
          waiting > 0 ? "; " + waiting + " methods still wait for the compilers" : "");
    }
  }
}
