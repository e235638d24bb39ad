package io.github.gatlingllm.bench;

import io.github.gatlingllm.record.JvmOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Our client with other JVM options than the recommended ones, named by the difference: {@code
 * bench/run paced-64 --clients ours,ours-c2,ours-g1 --results target/bench/jvm}.
 */
final class JvmVariants {

  private static final String COMPILER = "-XX:TieredStopAtLevel=1";
  private static final String COLLECTOR = "-XX:+UseSerialGC";
  private static final String YOUNG = "-Xmn512m";

  private static final Map<String, List<String>> ALL = all();

  private JvmVariants() {}

  private static Map<String, List<String>> all() {
    Map<String, List<String>> all = new LinkedHashMap<>();
    all.put("ours-gatling", List.of());
    all.put("ours-gatling-c1", List.of(COMPILER));
    all.put("ours-c2", with(COMPILER, ""));
    all.put(
        "ours-c2-nice",
        with(COMPILER, "-XX:ThreadPriorityPolicy=1", "-XX:CompilerThreadPriority=19"));
    all.put("ours-parallel", with(COLLECTOR, "-XX:+UseParallelGC"));
    all.put("ours-g1", with(COLLECTOR, "-XX:+UseG1GC"));
    all.put("ours-z", with(COLLECTOR, "-XX:+UseZGC"));
    all.put("ours-young-64m", with(YOUNG, "-Xmn64m"));
    all.put("ours-touched", with("", "-XX:+AlwaysPreTouch"));
    all.put("ours-1-loop", with("", "-Dio.netty.eventLoopThreads=1"));
    all.put("ours-2-loops", with("", "-Dio.netty.eventLoopThreads=2"));
    return all;
  }

  /** The recommended options, with one of them replaced. */
  private static List<String> with(String replaced, String... others) {
    List<String> options = new ArrayList<>(JvmOptions.RECOMMENDED);
    options.remove(replaced);
    for (String other : others) {
      if (!other.isEmpty()) {
        options.add(other);
      }
    }
    return options;
  }

  /** Our client with the options of this name; null if there are none. */
  static BenchClient.@Nullable Ours client(String name) {
    List<String> own = ALL.get(name);
    if (own == null) {
      return null;
    }
    return new BenchClient.Ours(name, Jvm.ofRun(own));
  }
}
