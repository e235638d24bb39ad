package io.github.gatlingllm.action;

import static java.time.Duration.ofNanos;
import static java.util.Objects.requireNonNull;

import io.gatling.core.CoreComponents;
import io.gatling.core.action.Action;
import io.gatling.core.action.SessionHook;
import io.gatling.core.session.Session;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.http.protocol.HttpComponents;
import io.gatling.http.protocol.HttpProtocol;
import io.github.gatlingllm.action.WarmUpRounds.WarmUpLog;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestRecord;
import io.netty.channel.EventLoop;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
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

  /** One of so many users gets a new connection for each request. */
  private static final int NEW_CONNECTION = 8;

  /** Attributes are held in a class per number of them, up to four. */
  private static final int SESSION_CLASSES = 3;

  /** As texts differ in how the JVM holds them, and requests in where they take them from. */
  private static final String LATIN = "Say hello. ".repeat(100);

  private static final String OTHER = "Say hello – “now”. ".repeat(60);

  /** A method in the text of the JVM's command. */
  private static final Pattern METHOD = Pattern.compile("::");

  private final CoreComponents core;
  private final HttpComponents http;
  private final WarmUpLog log = new WarmUpLog();
  private final Queue<Session> held = new ConcurrentLinkedQueue<>();
  private final AtomicLong userIds = new AtomicLong();
  private final CompilerWatch compilers = CompilerWatch.ofThisJvm(log::started);
  private final PlanDriver driver;
  private volatile boolean isSending = true;
  private final List<Action> bodies = new ArrayList<>();
  private @Nullable Action connecting;

  /** Three classes, so that compiled code does not depend on the one that the load has. */
  private final List<Consumer<RequestRecord>> sinks =
      List.of(
          record -> log.record(record), record -> log.record(record), record -> log.record(record));

  private JvmWarmUp(ScenarioContext context) {
    core = context.coreComponents();
    http = context.protocolComponentsRegistry().components(HttpProtocol.HttpProtocolKey());
    EventLoop timers = core.eventLoopGroup().next();
    LoadLevel.Phases endless = new LoadLevel.Phases(0L, 0L, 0, false, 0, Integer.MAX_VALUE);
    driver =
        new PlanDriver(
            new LoadPlan.Sweep(List.of(new LoadLevel.Closed(USERS, endless))).source(),
            System::nanoTime,
            (nanoTime, task) -> EventLoops.at(timers, nanoTime, task),
            this,
            new RunningLevel.Listener() {},
            level -> null);
  }

  static void run(ScenarioContext context, LlmComponents components, Api api) {
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().fixed(ofNanos(1_000_000), ofNanos(200_000)).seed(1).start()) {
      new JvmWarmUp(context).run(context, components, api, engine.baseUrl());
    } catch (IllegalStateException e) { // no port for the engine
      PrintableText.print(failed(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run(ScenarioContext context, LlmComponents components, Api api, String url)
      throws InterruptedException {
    LlmProtocol shared = components.protocol.forJvmWarmUp(url);
    LlmProtocol perUser = shared.with(each -> each.shareConnections = false);
    LlmRequest request = WarmUpRounds.shortRequest(api);
    List<Dynamic<String>> prompts =
        List.of(
            Dynamic.of(LATIN),
            Dynamic.of(session -> OTHER),
            Dynamic.of(session -> LATIN),
            Dynamic.of(session -> session.contains(OTHER) ? LATIN : OTHER),
            Dynamic.el(OTHER + LATIN, String.class));
    RunParts parts = components.parts.rehearsal();
    for (int i = 0; i < prompts.size(); i++) {
      Dynamic<String> prompt = prompts.get(i);
      bodies.add(
          new Loop(
                  new LlmComponents(shared, parts, log, sinks.get(i % sinks.size())),
                  request.with(draft -> draft.prompt = prompt),
                  context)
              .body);
    }
    connecting =
        new Loop(new LlmComponents(perUser, parts, log, sinks.get(0)), request, context).body;
    driver.begin();
    RequestRecord failed = null;
    while (failed == null && compilers.isWarmingUp()) {
      isSending = compilers.isSending();
      for (Session next = isSending ? held.poll() : null; next != null; next = held.poll()) {
        iterate(next);
      }
      failed = log.firstFailed(CompilerWatch.POLL_NANOS);
    }
    isSending = false;
    long end = System.nanoTime() + WarmUpRounds.GRACE_NANOS;
    while (failed == null && held.size() < USERS && System.nanoTime() < end) {
      failed = log.firstFailed(CompilerWatch.POLL_NANOS);
    }
    parts.counting().close(Duration.ZERO);
    PrintableText.print(
        failed == null
            ? "LLM warm-up of the JVM: "
                + log.started()
                + " requests, "
                + compilers
                + ", to an engine inside"
            : failed(failed.outcome().error()));
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
    boolean connects = session.userId() % NEW_CONNECTION == 0;
    Action body =
        connects
            ? requireNonNull(connecting)
            : bodies.get((int) (session.userId() % bodies.size()));
    EventLoops.execute(
        session.eventLoop(), () -> PlanUser.of(session).iterate(session, body, body));
  }

  /** After a request of a user: the next one, or a pause while the compilers work. */
  private final class Loop extends SessionHook {

    final Action body;
    private final boolean connects;

    Loop(LlmComponents components, LlmRequest request, ScenarioContext context) {
      super(null, "warm-up", core.statsEngine(), null);
      connects = !components.protocol.shareConnections();
      body = new LlmAction(request, components, context, this);
    }

    @Override
    public void execute(Session session) {
      if (connects) {
        http.onExit().apply(session); // closes its connection
      }
      if (isSending) {
        PlanUser.of(session).iterate(session, body, body);
      } else {
        held.add(session);
      }
    }
  }

  /**
   * Decides when requests warm up the JVM: some for each user; then the compilers work through what
   * these gave them, with all CPU time there is; then again. It ends when requests gave the
   * compilers next to nothing, after 10 s at most. How long requests take decides nothing: methods
   * are compiled after a number of calls.
   */
  static final class CompilerWatch {

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
     * @param queue methods that are being compiled or wait for it; -1 if the JVM does not say
     * @param requests that were sent
     */
    CompilerWatch(
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

    static CompilerWatch ofThisJvm(LongSupplier requests) {
      CompilationMXBean bean = ManagementFactory.getCompilationMXBean();
      boolean isReported = bean != null && bean.isCompilationTimeMonitoringSupported();
      return new CompilerWatch(
          System::nanoTime,
          () -> isReported ? bean.getTotalCompilationTime() : UNKNOWN,
          CompilerWatch::queueOfThisJvm,
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
