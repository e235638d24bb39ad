package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.AnswerFault;
import io.github.gatlingllm.record.RequestRecord.AnswerPass;
import io.github.gatlingllm.record.RequestRecord.CheckedAnswer;
import io.github.gatlingllm.record.RequestRecord.Identity;
import io.github.gatlingllm.record.RequestRecord.RequestOutcome;
import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Makes records for tests. Times are given in milliseconds; the run starts at {@link #ORIGIN}. */
public final class Recorded {

  /** Start of every test run, epoch nanoseconds. */
  public static final long ORIGIN = 1_700_000_000_000_000_000L;

  private static final long MS = 1_000_000L;

  private long origin = ORIGIN;
  private String id = "id";
  private String injector = "local";
  private String scenario = "scn";
  private @Nullable Integer turn;
  private @Nullable SessionTurn session;
  private @Nullable Double connectMs;
  private @Nullable Double roundTripMs;
  private String name = "ask";
  private String target = "a";
  private String model = "m";
  private String api = "chat";
  private String stage = "c=1";
  private Phase phase = Phase.MEASURE;
  private boolean streamed = true;
  private boolean hasTools;
  private @Nullable Integer inputs;
  private @Nullable Integer trial;
  private double startMs;
  private double lagMs;
  private @Nullable Double gateMs = 0.0;
  private boolean planned;
  private @Nullable Double offsetMs;
  private double[] tokenMs = {};
  private int[] perEvent = {};
  private int[] choices = {};
  private boolean times = true;
  private @Nullable Double latencyMs;
  private @Nullable Double closedMs;
  private @Nullable Integer prompt = 10;
  private @Nullable Integer ours;
  private @Nullable Integer ourOutput;
  private @Nullable Integer cached;
  private @Nullable Integer ideal;
  private @Nullable Integer max;
  private @Nullable Integer output;
  private int hidden;
  private RequestStatus status = RequestStatus.COMPLETE;
  private @Nullable Boolean inSlo;
  private @Nullable String error;
  private @Nullable String finish = "length";
  private boolean estimated;
  private @Nullable TokenSource source;
  private boolean done = true;
  private boolean resent;
  private boolean leftOpen;
  private List<String> unknownFields = List.of();
  private ServerReport server = ServerReport.NONE;
  private @Nullable String traceId;
  private @Nullable Double pacingMs;
  private @Nullable CheckedAnswer checked;

  /** A request that starts this number of milliseconds into the run. */
  public static Recorded at(double startMs) {
    Recorded recorded = new Recorded();
    recorded.startMs = startMs;
    return recorded;
  }

  /** So many requests, by their number from 0. */
  public static List<RequestRecord> requests(int count, IntFunction<Recorded> each) {
    return IntStream.range(0, count)
        .mapToObj(number -> each.apply(number).record())
        .collect(Collectors.toCollection(ArrayList::new));
  }

  public Recorded id(String value) {
    id = value;
    return this;
  }

  public Recorded injector(String value) {
    injector = value;
    return this;
  }

  public Recorded scenario(String value) {
    scenario = value;
    return this;
  }

  /** The last turn of a session of that length, part of which it waited for tools. */
  public Recorded session(double ms, double toolsMs) {
    session = new SessionTurn("c1/s", Math.round(ms * MS), Math.round(toolsMs * MS), 0L, 0L, true);
    return this;
  }

  /** A turn of a replayed session, with which it ends or not. */
  public Recorded session(String id, boolean isEnd) {
    session = new SessionTurn(id, null, null, 0L, 0L, isEnd);
    return this;
  }

  public Recorded turn(int value) {
    turn = value;
    return this;
  }

  public Recorded roundTrip(double ms) {
    roundTripMs = ms;
    return this;
  }

  public Recorded connect(double ms) {
    connectMs = ms;
    return this;
  }

  public Recorded name(String value) {
    name = value;
    return this;
  }

  public Recorded target(String value) {
    target = value;
    return this;
  }

  public Recorded model(String value) {
    model = value;
    return this;
  }

  public Recorded api(String value) {
    api = value;
    return this;
  }

  public Recorded stage(String value) {
    stage = value;
    return this;
  }

  public Recorded phase(Phase value) {
    phase = value;
    return this;
  }

  public Recorded trial(int value) {
    trial = value;
    return this;
  }

  public Recorded unixNanos(long value) {
    origin = value;
    return this;
  }

  /** An open-loop arrival that was planned so long before its start. */
  public Recorded lag(double ms) {
    lagMs = ms;
    planned = true;
    return this;
  }

  /** An arrival planned so long after the start of the run, whose user took its time. */
  public Recorded offset(double ms) {
    planned = true;
    offsetMs = ms;
    return this;
  }

  public Recorded gate(@Nullable Double ms) {
    gateMs = ms;
    return this;
  }

  /** Token events at these milliseconds since admitted. */
  public Recorded tokens(double... ms) {
    tokenMs = ms;
    return this;
  }

  public Recorded perEvent(int... tokens) {
    perEvent = tokens;
    return this;
  }

  public Recorded choices(int... indexes) {
    choices = indexes;
    return this;
  }

  public Recorded withoutTimes() {
    times = false;
    return this;
  }

  /** Not a stream: the complete body after this number of milliseconds. */
  public Recorded body(double ms, int tokens) {
    streamed = false;
    latencyMs = ms;
    output = tokens;
    return this;
  }

  /** A stream was requested and one body came after this number of milliseconds. */
  public Recorded bodyForStream(double ms, int tokens) {
    body(ms, tokens);
    streamed = true;
    return this;
  }

  public Recorded inputs(int texts) {
    inputs = texts;
    return body(100, 0);
  }

  public Recorded tools() {
    hasTools = true;
    return this;
  }

  public Recorded closed(double ms) {
    closedMs = ms;
    return this;
  }

  public Recorded prompt(@Nullable Integer tokens) {
    prompt = tokens;
    return this;
  }

  /** Our own count of the answer's tokens. */
  public Recorded ourOutput(@Nullable Integer tokens) {
    ourOutput = tokens;
    return this;
  }

  public Recorded ours(@Nullable Integer tokens) {
    ours = tokens;
    return this;
  }

  public Recorded idealCached(int tokens) {
    ideal = tokens;
    return this;
  }

  public Recorded cached(int tokens) {
    cached = tokens;
    return this;
  }

  public Recorded max(int tokens) {
    max = tokens;
    return this;
  }

  /** N where it is not one per event. */
  public Recorded output(int tokens) {
    output = tokens;
    return this;
  }

  /** Reasoning that is billed and was never streamed. */
  public Recorded hidden(int tokens) {
    hidden = tokens;
    return this;
  }

  public Recorded failed(RequestStatus value, @Nullable String message) {
    status = value;
    error = message;
    finish = null;
    done = false;
    return this;
  }

  public Recorded judged(@Nullable Boolean met) {
    inSlo = met;
    return this;
  }

  public Recorded finish(@Nullable String reason) {
    finish = reason;
    return this;
  }

  public Recorded estimated() {
    estimated = true;
    return this;
  }

  public Recorded chunks() {
    source = TokenSource.CHUNKS;
    return estimated();
  }

  public Recorded unknownField(String name) {
    unknownFields = List.of(name);
    return this;
  }

  /** Whether it was sent once more, and whether its body was not ended. */
  public Recorded connection(boolean isResent, boolean isLeftOpen) {
    resent = isResent;
    leftOpen = isLeftOpen;
    return this;
  }

  /** Timings that the server reported, and its own names of them. */
  public Recorded server(Map<String, Double> timings, String... names) {
    return server(new ServerReport(timings, List.of(names), Map.of(), null, null, null));
  }

  public Recorded replica(String name) {
    return server(new ServerReport(Map.of(), List.of(), Map.of(), null, name, null));
  }

  private Recorded server(ServerReport report) {
    server = report;
    return this;
  }

  public Recorded ids(@Nullable String trace, @Nullable String answer) {
    traceId = trace;
    return server(new ServerReport(Map.of(), List.of(), Map.of(), null, null, answer));
  }

  public Recorded limits(Map<String, Double> remaining, @Nullable Double retryAfterS) {
    Long nanos = retryAfterS == null ? null : (Long) nanos(retryAfterS * 1_000);
    return server(new ServerReport(Map.of(), List.of(), remaining, nanos, null, null));
  }

  /** A request of the setting answers; what differs does at its first character. */
  public Recorded answer(
      AnswerPass pass, int prompt, @Nullable Boolean same, @Nullable AnswerFault fault) {
    return answer(pass, prompt, same, fault, null);
  }

  public Recorded answer(
      AnswerPass pass,
      int prompt,
      @Nullable Boolean same,
      @Nullable AnswerFault fault,
      @Nullable Boolean right) {
    checked =
        new CheckedAnswer(
            pass, prompt, same, Boolean.FALSE.equals(same) ? (Integer) 7 : null, fault, right);
    return phase(Phase.CHECK);
  }

  /** Of the gate wait, how long it was delayed. */
  public Recorded paced(double ms) {
    pacingMs = ms;
    return this;
  }

  public RequestRecord record() {
    Integer n =
        output != null
            ? output
            : tokenMs.length == 0
                ? null
                : (Integer) (perEvent.length > 0 ? Arrays.stream(perEvent).sum() : tokenMs.length);
    Integer streamedTokens = streamed || hidden > 0 ? n : null;
    long start = origin + nanos(startMs);
    Timeline timeline = timeline(start);
    Identity identity =
        new Identity(
            id,
            "run",
            injector,
            trial,
            0,
            scenario,
            name,
            List.of(),
            1,
            turn,
            session,
            target,
            "http://localhost/v1",
            model,
            api,
            streamed,
            hasTools,
            stage,
            phase,
            traceId);
    Tokens tokens =
        new Tokens(
            null,
            prompt,
            ours,
            cached,
            ideal,
            max,
            n == null ? null : Integer.valueOf(n + hidden),
            ourOutput,
            hidden == 0 ? null : Integer.valueOf(hidden),
            streamedTokens,
            estimated,
            source != null ? source : estimated ? TokenSource.TOKENIZER : TokenSource.USAGE,
            List.of(),
            inputs);
    boolean ok = status == RequestStatus.COMPLETE;
    return new RequestRecord(
        identity,
        timeline.timing(
            start,
            planned ? Long.valueOf(nanos(offsetMs == null ? startMs - lagMs : offsetMs)) : null,
            streamedTokens),
        timeline.events(times),
        tokens,
        new RequestOutcome(finish, 200, status, ok, error, inSlo, List.of(), resent, leftOpen),
        server,
        checked,
        null);
  }

  private Timeline timeline(long start) {
    Timeline timeline = new Timeline(start - nanos(lagMs), start);
    long from = start + (gateMs == null ? 0 : nanos(gateMs));
    if (gateMs != null) {
      timeline.admitted(from);
    }
    at(pacingMs, 0, timeline::paced);
    at(roundTripMs, 0, timeline::roundTrip);
    at(connectMs, from, timeline::written);
    at(latencyMs, from, timeline::body);
    int counted = hidden;
    for (int i = 0; i < tokenMs.length; i++) {
      long now = from + nanos(tokenMs[i]);
      counted = perEvent.length > 0 ? counted + perEvent[i] : -1;
      timeline.event(now);
      timeline.tokens(choices.length > 0 ? choices[i] : 0, now, true, counted);
    }
    timeline.counted(counted, hidden);
    unknownFields.forEach(timeline::unknownField);
    if (done) {
      timeline.done();
    }
    Double last = tokenMs.length > 0 ? (Double) tokenMs[tokenMs.length - 1] : latencyMs;
    at(closedMs != null ? closedMs : last, from, timeline::closed);
    return timeline;
  }

  private static void at(@Nullable Double ms, long from, LongConsumer stamp) {
    if (ms != null) {
      stamp.accept(from + nanos(ms));
    }
  }

  static long nanos(double ms) {
    return Math.round(ms * MS);
  }
}
