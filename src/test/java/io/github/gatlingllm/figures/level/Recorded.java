package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Identity;
import io.github.gatlingllm.record.RequestRecord.Outcome;
import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
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
  private @Nullable Integer max;
  private @Nullable Integer output;
  private int hidden;
  private RequestStatus verdict = RequestStatus.COMPLETE;
  private @Nullable Boolean inSlo;
  private @Nullable String error;
  private @Nullable String finish = "length";
  private boolean estimated;
  private @Nullable TokenSource source;
  private boolean done = true;
  private boolean resent;
  private boolean leftOpen;
  private List<String> unknownFields = List.of();
  private int coalesced;
  private ServerReport server = ServerReport.NONE;
  private @Nullable Double pacingMs;

  /** A request that starts so many milliseconds into the run. */
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
    session = new SessionTurn("c1/s", Math.round(ms * MS), Math.round(toolsMs * MS));
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

  /** Not a stream: the whole body after so many milliseconds. */
  public Recorded body(double ms, int tokens) {
    streamed = false;
    latencyMs = ms;
    output = tokens;
    return this;
  }

  /** A stream was asked for and one body came after so many milliseconds. */
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
    verdict = value;
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

  /** Whether it was sent once more, and whether its body was left open. */
  public Recorded connection(boolean isResent, boolean isLeftOpen) {
    resent = isResent;
    leftOpen = isLeftOpen;
    return this;
  }

  public Recorded coalesced(int events) {
    coalesced = events;
    return this;
  }

  /** Timings that the server reported, and its own names of them. */
  public Recorded server(Map<String, Double> timings, String... names) {
    return server(new ServerReport(timings, List.of(names), Map.of(), null, null));
  }

  public Recorded replica(String name) {
    return server(new ServerReport(Map.of(), List.of(), Map.of(), null, name));
  }

  private Recorded server(ServerReport said) {
    server = said;
    return this;
  }

  public Recorded limits(Map<String, Double> left, @Nullable Double retryAfterS) {
    Long nanos = retryAfterS == null ? null : (Long) nanos(retryAfterS * 1_000);
    return server(new ServerReport(Map.of(), List.of(), left, nanos, null));
  }

  /** Of the gate wait, how long it was held back. */
  public Recorded paced(double ms) {
    pacingMs = ms;
    return this;
  }

  public RequestRecord record() {
    boolean any = tokenMs.length > 0;
    Double last = any ? Double.valueOf(tokenMs[tokenMs.length - 1]) : latencyMs;
    Integer n =
        output != null
            ? output
            : any
                ? (Integer) (perEvent.length > 0 ? Arrays.stream(perEvent).sum() : tokenMs.length)
                : null;
    Long first = any ? nanos(tokenMs[0]) : null;
    double after =
        n == null
            ? 0
            : n - (perEvent.length > 0 ? perEvent[0] : Math.max(1, (double) n / tokenMs.length));
    Double tpot =
        tokenMs.length > 1 && after > 0 && last != null
            ? Double.valueOf((last - tokenMs[0]) * MS / after)
            : null;
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
            phase);
    Timing timing =
        new Timing(
            origin + nanos(startMs),
            planned ? Long.valueOf(nanos(offsetMs == null ? startMs - lagMs : offsetMs)) : null,
            nanos(lagMs),
            gateMs == null ? null : Long.valueOf(nanos(gateMs)),
            connectMs == null ? null : Long.valueOf(nanos(connectMs)),
            null,
            first,
            first,
            first,
            last == null ? null : Long.valueOf(nanos(last)),
            closedMs != null ? Long.valueOf(nanos(closedMs)) : last == null ? null : nanos(last),
            tpot,
            pacingMs == null ? null : Long.valueOf(nanos(pacingMs)),
            roundTripMs == null ? null : Long.valueOf(nanos(roundTripMs)));
    Events events =
        new Events(
            Arrays.stream(times ? tokenMs : new double[0])
                .mapToInt(ms -> (int) Math.round(ms * 1_000))
                .toArray(),
            perEvent,
            choices,
            tokenMs.length,
            coalesced,
            0,
            done,
            longestGap(),
            perEvent.length > 0 ? Integer.valueOf(perEvent[0]) : null,
            0,
            unknownFields);
    Tokens tokens =
        new Tokens(
            null,
            prompt,
            ours,
            cached,
            max,
            n == null ? null : Integer.valueOf(n + hidden),
            ourOutput,
            hidden == 0 ? null : Integer.valueOf(hidden),
            streamed || hidden > 0 ? n : null,
            estimated,
            source != null ? source : estimated ? TokenSource.TOKENIZER : TokenSource.USAGE,
            List.of(),
            inputs);
    boolean ok = verdict == RequestStatus.COMPLETE;
    var outcome = new Outcome(finish, 200, verdict, ok, error, inSlo, List.of(), resent, leftOpen);
    return new RequestRecord(identity, timing, events, tokens, outcome, server, null);
  }

  private @Nullable Long longestGap() {
    return IntStream.range(1, tokenMs.length)
        .mapToObj(i -> nanos(tokenMs[i]) - nanos(tokenMs[i - 1]))
        .max(Comparator.naturalOrder())
        .orElse(null);
  }

  static long nanos(double ms) {
    return Math.round(ms * MS);
  }
}
