package io.github.gatlingllm;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Several fuzzed methods as one fuzz target: starting Jazzer costs 6 s of CPU time, a thousand
 * inputs less than one. The last byte of an input selects the method that gets the rest.
 */
public final class ExploredMethods {

  static final List<String> NAMES =
      List.of(
          "client.StreamFuzzTest#splitStream",
          "client.StreamFuzzTest#chunkAfterChunk",
          "client.HttpFuzzTest#answer",
          "record.RecordFuzzTest#line",
          "record.RecordFuzzTest#file",
          "settings.SettingsFuzzTest#value",
          "settings.SettingsFuzzTest#several",
          "run.MetricsFuzzTest#page");

  private static final Path INPUTS = Path.of("src/test/resources/io/github/gatlingllm");

  private static final List<Target> TARGETS = NAMES.stream().map(Target::named).toList();

  private ExploredMethods() {}

  private record Target(Object test, Method method) {

    static Target named(String name) {
      try {
        String[] parts = name.split("#", -1);
        Class<?> type = Class.forName("io.github.gatlingllm." + parts[0]);
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Method method =
            Arrays.stream(type.getDeclaredMethods())
                .filter(each -> each.getName().equals(parts[1]))
                .findFirst()
                .orElseThrow();
        method.setAccessible(true);
        return new Target(constructor.newInstance(), method);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(name, e);
      }
    }
  }

  public static void fuzzerTestOneInput(FuzzedDataProvider data) throws Throwable {
    // Numbers are taken from the end.
    Target target = TARGETS.get(data.consumeInt(0, TARGETS.size() - 1));
    boolean takesBytes = target.method().getParameterTypes()[0] == byte[].class;
    Object input = takesBytes ? data.consumeRemainingAsBytes() : data;
    try {
      target.method().invoke(target.test(), input);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  /** Writes the inputs that fuzzing kept as inputs of the one target; returns their number. */
  static int writeKept(Path folder) throws IOException {
    int written = 0;
    for (int i = 0; i < NAMES.size(); i++) {
      Path kept = INPUTS.resolve(NAMES.get(i).replace('.', '/').replace("#", "Inputs/"));
      if (Files.isDirectory(kept)) {
        try (Stream<Path> all = Files.list(kept)) {
          for (Path input : all.sorted().toList()) {
            byte[] bytes = Files.readAllBytes(input);
            byte[] marked = Arrays.copyOf(bytes, bytes.length + 1);
            marked[bytes.length] = (byte) i;
            Files.write(folder.resolve(i + "-" + input.getFileName()), marked);
            written++;
          }
        }
      }
    }
    return written;
  }
}
