package io.github.gatlingllm.record;

import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Identity;
import io.github.gatlingllm.record.RequestRecord.Outcome;
import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.RequestRecord.Text;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Records with anything in them that a record may hold; the same ones for the same seed. */
public final class RandomRecords {

  private static final List<String> ODD =
      List.of(
          "\"|\\|\n|\r|\t|\u0000|\u001f|\u007f|\u0085|\u2028|\u2029|é|漢|😀|/|</script>|a|Z| "
              .split("\\|", -1));

  private final SplittableRandom random;
  private long index;

  public RandomRecords(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Anything that is allowed, likely or not. */
  public RequestRecord any() {
    boolean admitted = chance(0.9);
    int count = random.nextInt(40);
    boolean kept = chance(0.8);
    boolean several = chance(0.2);
    return new RequestRecord(
        new Identity(
            text(),
            text(),
            text(),
            maybe(this::count),
            index++,
            text(),
            text(),
            texts(),
            random.nextLong(),
            maybe(this::count),
            text(),
            text(),
            maybe(this::text),
            text(),
            random.nextBoolean(),
            random.nextBoolean(),
            text(),
            pick(Phase.values())),
        new Timing(
            random.nextLong(4_000_000_000_000_000_000L),
            maybe(this::nanos),
            nanos(),
            admitted ? nanos() : null,
            maybe(this::nanos),
            maybe(this::nanos),
            maybe(this::nanos),
            maybe(this::nanos),
            maybe(this::nanos),
            maybe(this::nanos),
            maybe(this::nanos),
            maybe(() -> (double) nanos()),
            null),
        new Events(
            kept ? ints(count, Integer.MAX_VALUE) : new int[0],
            kept && random.nextBoolean() ? ints(count, 9) : new int[0],
            kept && several ? ints(count, 3) : new int[0],
            count,
            random.nextInt(5),
            random.nextInt(3),
            random.nextBoolean(),
            maybe(this::nanos),
            maybe(this::count)),
        new Tokens(
            maybe(this::count),
            maybe(this::count),
            maybe(this::count),
            maybe(this::count),
            maybe(this::count),
            maybe(this::count),
            maybe(this::count),
            maybe(this::count),
            maybe(this::count),
            random.nextBoolean(),
            maybe(() -> pick(TokenSource.values())),
            texts(),
            null),
        new Outcome(
            maybe(this::text),
            maybe(this::count),
            pick(RequestStatus.values()),
            random.nextBoolean(),
            maybe(this::text),
            maybe(random::nextBoolean),
            texts(),
            random.nextBoolean()),
        new ServerReport(
            server(), texts(), server(), maybe(() -> random.nextLong(1L << 50)), maybe(this::text)),
        maybe(this::words));
  }

  /** A likely one: complete, streamed, with that many tokens, one per event. */
  public RequestRecord answer(int tokens) {
    long ttft = 100_000_000L + random.nextLong(200_000_000L);
    int[] offsets = new int[tokens];
    long longest = 0;
    long at = ttft / 1_000;
    for (int i = 0; i < tokens; i++) {
      long gap = random.nextLong(10_000, 20_000);
      at += i == 0 ? 0 : gap;
      longest = i == 0 ? longest : Math.max(longest, gap * 1_000);
      offsets[i] = (int) at;
    }
    long latency = at * 1_000;
    long number = index++;
    return new RequestRecord(
        new Identity(
            new UUID(random.nextLong(), random.nextLong()).toString(),
            "chatsimulation-20261121101500123",
            "injector-1",
            null,
            number,
            "Chat",
            "ask",
            List.of(),
            number % 64,
            null,
            "default",
            "http://localhost:8000/v1/chat/completions",
            "meta-llama/Llama-3.1-8B-Instruct",
            "chat",
            true,
            false,
            "c=64",
            Phase.MEASURE),
        new Timing(
            1_795_255_200_000_000_000L + number * 1_000_000L,
            null,
            0,
            0L,
            250_000L,
            20_000_000L,
            30_000_000L,
            ttft,
            ttft,
            latency,
            latency + 500_000L,
            tokens < 2 ? null : (Double) ((double) (latency - ttft) / (tokens - 1)),
            null),
        new Events(
            offsets,
            new int[0],
            new int[0],
            tokens,
            0,
            0,
            true,
            tokens < 2 ? null : (Long) longest,
            1),
        new Tokens(
            420,
            104,
            104,
            0,
            128,
            tokens,
            null,
            null,
            tokens,
            false,
            TokenSource.USAGE,
            List.of(),
            null),
        new Outcome("length", 200, RequestStatus.COMPLETE, true, null, true, List.of(), false),
        ServerReport.NONE,
        null);
  }

  private Map<String, Double> server() {
    Map<String, Double> numbers = new LinkedHashMap<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      numbers.put(
          text(),
          chance(0.5)
              ? random.nextInt(1_000)
              : random.nextDouble() * Math.pow(10, random.nextInt(30) - 20));
    }
    return numbers;
  }

  private Text words() {
    return random.nextBoolean()
        ? new Text(
            "[ {\"role\":\"user\",\"content\":\"a\\u0041 😀\"} , null, 1.0e5 ]",
            null,
            maybe(this::text),
            maybe(this::text))
        : new Text(null, maybe(this::text), maybe(this::text), maybe(this::text));
  }

  private String text() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(6); i >= 0; i--) {
      text.append(ODD.get(random.nextInt(ODD.size())));
    }
    return text.toString();
  }

  private List<String> texts() {
    return IntStream.range(0, random.nextInt(3)).mapToObj(i -> text()).toList();
  }

  private int count() {
    return random.nextInt(100_000);
  }

  private long nanos() {
    return chance(0.5)
        ? random.nextLong(2_000_000_000L)
        : random.nextLong(-1_000_000_000L, 9_000_000_000_000_000L);
  }

  private int[] ints(int count, int bound) {
    return random.ints(count, 0, bound).toArray();
  }

  private <T> T pick(T[] values) {
    return values[random.nextInt(values.length)];
  }

  private <T> @Nullable T maybe(Supplier<T> value) {
    return chance(0.7) ? value.get() : null;
  }

  private boolean chance(double probability) {
    return random.nextDouble() < probability;
  }
}
