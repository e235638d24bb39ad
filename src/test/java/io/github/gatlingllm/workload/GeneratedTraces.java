package io.github.gatlingllm.workload;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.workload.Dataset.SessionFile;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Weka traces of any size, by formula: each request extends the one before by a block, and each
 * fiftieth begins again with the first ten. Run it to see what reading a folder of them costs: the
 * folder, number of traces, requests per trace, blocks of the longest prompt.
 */
final class GeneratedTraces {

  private static final int BLOCK = 64;
  private static final int KEPT = 10;
  private static final int COMPACTED = 50;

  private GeneratedTraces() {}

  static void write(Path folder, int traces, int requests, int blocks) throws IOException {
    Files.createDirectories(folder);
    for (int trace = 0; trace < traces; trace++) {
      Path file = folder.resolve("trace-%04d.json".formatted(trace));
      try (PrintStream out = new PrintStream(Files.newOutputStream(file), false, UTF_8)) {
        write(out, "trace-" + trace, requests, blocks);
      }
    }
  }

  static void write(PrintStream out, String id, int requests, int blocks) {
    out.printf(Locale.ROOT, "{\"id\":\"%s\",\"block_size\":%d,\"requests\":[%n", id, BLOCK);
    int first = Math.max(1, blocks - COMPACTED);
    for (int i = 0; i < requests; i++) {
      int length = first + i % COMPACTED;
      StringBuilder ids = new StringBuilder("0");
      for (int block = 1; block < length; block++) {
        int generation = block < KEPT ? 0 : i / COMPACTED;
        ids.append(',').append(generation * blocks + block);
      }
      out.printf(
          Locale.ROOT,
          "%s{\"t\":%.1f,\"type\":\"s\",\"model\":\"m\",\"in\":%d,\"out\":100,\"api_time\":2.0,"
              + "\"hash_ids\":[%s]}%n",
          i == 0 ? "" : ",",
          3.0 * i,
          length * BLOCK,
          ids);
    }
    out.println("]}");
  }

  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    if (!Files.exists(folder)) {
      int[] sizes = {
        Integer.parseInt(arguments[1]),
        Integer.parseInt(arguments[2]),
        Integer.parseInt(arguments[3])
      };
      write(folder, sizes[0], sizes[1], sizes[2]);
    }
    long start = System.nanoTime();
    SessionFile file = SessionFile.open(folder.toString(), Tokenizer.chars4());
    System.out.printf("%s%n%.1f s%n", file, (System.nanoTime() - start) / 1e9);
    long chars = 0;
    start = System.nanoTime();
    for (int turn = 0; turn < 100; turn++) {
      var turns = file.inOrder(turn).main().turns();
      chars += turns.get(turn % turns.size()).prompt().get().text().length();
    }
    System.out.printf(
        "prompts of %d characters: %.2f ms each%n", chars / 100, (System.nanoTime() - start) / 1e8);
    long peak =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .mapToLong(pool -> pool.getPeakUsage().getUsed())
            .sum();
    System.gc();
    long kept = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    System.out.printf("heap: peak %d MB, kept %d MB%n", peak >> 20, kept >> 20);
  }
}
