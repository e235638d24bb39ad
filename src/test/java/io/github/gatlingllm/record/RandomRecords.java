package io.github.gatlingllm.record;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.RecordedText;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Records with anything in them that a record may have; the same ones for the same seed. */
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
    return of(RequestRecord.class);
  }

  /** A complete, streamed one with that many tokens, one per event. */
  public RequestRecord answer(int tokens) {
    double[] ms = new double[tokens];
    for (int i = 0; i < tokens; i++) {
      ms[i] = i == 0 ? 100 + random.nextInt(200) : ms[i - 1] + 10 + random.nextInt(10);
    }
    UUID id = new UUID(random.nextLong(), random.nextLong());
    return Recorded.at((double) index++)
        .unixNanos(1_795_255_200_000_000_000L)
        .id(id.toString())
        .scenario("Chat")
        .target("default")
        .stage("c=64")
        .tokens(ms)
        .judged(true)
        .record();
  }

  private <T extends Record> T of(Class<T> type) {
    RecordComponent[] components = type.getRecordComponents();
    try {
      return type.getDeclaredConstructor(
              Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new))
          .newInstance(Arrays.stream(components).map(this::value).toArray());
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(type.getName(), e);
    }
  }

  private @Nullable Object value(RecordComponent component) {
    return component.getAnnotatedType().isAnnotationPresent(Nullable.class) && chance(0.3)
        ? null
        : value(component.getType());
  }

  private Object value(Class<?> type) {
    if (type.isEnum()) {
      Object[] all = type.getEnumConstants();
      return all[random.nextInt(all.length)];
    }
    return switch (type.getSimpleName()) {
      case "String" -> text();
      case "List" -> IntStream.range(0, random.nextInt(3)).mapToObj(i -> text()).toList();
      case "Map" -> server();
      case "boolean", "Boolean" -> random.nextBoolean();
      case "int", "Integer" -> random.nextInt(100_000);
      case "long" -> random.nextLong(9_000_000_000_000_000L);
      case "Long" -> nanos();
      case "Double" -> (double) nanos();
      case "RecordedText" -> words();
      case "Events" -> events();
      default -> of(type.asSubclass(Record.class));
    };
  }

  private Events events() {
    int count = random.nextInt(40);
    boolean hasTimes = chance(0.8);
    return new Events(
        hasTimes ? ints(count, Integer.MAX_VALUE) : new int[0],
        hasTimes && random.nextBoolean() ? ints(count, 9) : new int[0],
        hasTimes && chance(0.2) ? ints(count, 3) : new int[0],
        count,
        random.nextInt(5),
        random.nextInt(3),
        random.nextBoolean(),
        maybe(this::nanos),
        maybe(() -> random.nextInt(100_000)),
        random.nextInt(3),
        chance(0.1) ? List.of(text()) : List.of());
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

  private RecordedText words() {
    return random.nextBoolean()
        ? new RecordedText(
            "[ {\"role\":\"user\",\"content\":\"a\\u0041 😀\"} , null, 1.0e5 ]",
            null,
            maybe(this::text),
            maybe(this::text))
        : new RecordedText(null, maybe(this::text), maybe(this::text), maybe(this::text));
  }

  private String text() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(6); i >= 0; i--) {
      text.append(ODD.get(random.nextInt(ODD.size())));
    }
    return text.toString();
  }

  private long nanos() {
    return chance(0.5)
        ? random.nextLong(2_000_000_000L)
        : random.nextLong(-1_000_000_000L, 9_000_000_000_000_000L);
  }

  private int[] ints(int count, int bound) {
    return random.ints(count, 0, bound).toArray();
  }

  private <T> @Nullable T maybe(Supplier<T> value) {
    return chance(0.7) ? value.get() : null;
  }

  private boolean chance(double probability) {
    return random.nextDouble() < probability;
  }
}
