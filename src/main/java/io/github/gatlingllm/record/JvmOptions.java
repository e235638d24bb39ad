package io.github.gatlingllm.record;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The options of the load generator's JVM that decide how much it disturbs its own measurements:
 * compilers and garbage collection. In {@code run.json} they are the setting {@value #CONFIG_NAME},
 * separated by spaces.
 */
public final class JvmOptions {

  /** Their name in {@link RunInfo#config}. */
  public static final String CONFIG_NAME = "jvm";

  /** Only compiler C1: the threads of C2 occupy a processor for the first minute. */
  public static final String NO_OPTIMISING_COMPILER = "-XX:TieredStopAtLevel=1";

  /**
   * The recommended options: no optimising compiler; a garbage collector without threads of its
   * own; a heap of constant size with a young generation large enough for few collections; and no
   * collections because of class metadata.
   */
  public static final List<String> RECOMMENDED =
      List.of(
          NO_OPTIMISING_COMPILER,
          "-XX:+UseSerialGC",
          "-Xms1g",
          "-Xmx1g",
          "-Xmn512m",
          "-XX:MetaspaceSize=256m");

  private static final Pattern SIZE = Pattern.compile("(-Xm[nsx]|-XX:\\w+Size=)(\\d+)([mg])");

  private JvmOptions() {}

  /** The options in effect, set or by default; empty if the JVM does not report them. */
  public static List<String> inEffect() {
    HotSpotDiagnosticMXBean jvm =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    if (jvm == null) {
      return List.of();
    }
    List<String> options = new ArrayList<>();
    valueOf(jvm, "TieredStopAtLevel")
        .ifPresent(level -> options.add("-XX:TieredStopAtLevel=" + level));
    Stream.of("Serial", "Parallel", "G1", "Z", "Shenandoah", "Epsilon")
        .map(collector -> "Use" + collector + "GC")
        .filter(flag -> valueOf(jvm, flag).filter("true"::equals).isPresent())
        .forEach(flag -> options.add("-XX:+" + flag));
    addSize(options, jvm, "-Xms", "InitialHeapSize");
    addSize(options, jvm, "-Xmx", "MaxHeapSize");
    addSize(options, jvm, "-Xmn", "NewSize");
    addSize(options, jvm, "-XX:MetaspaceSize=", "MetaspaceSize");
    return List.copyOf(options);
  }

  /** The recommended options that are not in effect; a larger size counts as in effect. */
  public static List<String> missing(List<String> inEffect) {
    return RECOMMENDED.stream()
        .filter(option -> inEffect.stream().noneMatch(other -> suffices(other, option)))
        .toList();
  }

  private static boolean suffices(String option, String recommended) {
    Matcher has = SIZE.matcher(option);
    Matcher needs = SIZE.matcher(recommended);
    return (has.matches() && needs.matches() && has.group(1).equals(needs.group(1)))
        ? mebibytes(has) >= mebibytes(needs)
        : option.equals(recommended);
  }

  private static long mebibytes(Matcher size) {
    long number = Long.parseLong(size.group(2));
    return size.group(3).equals("g") ? number << 10 : number;
  }

  private static void addSize(
      List<String> options, HotSpotDiagnosticMXBean jvm, String option, String flag) {
    valueOf(jvm, flag)
        .ifPresent(bytes -> options.add(option + (Long.parseLong(bytes) >> 20) + "m"));
  }

  private static Optional<String> valueOf(HotSpotDiagnosticMXBean jvm, String flag) {
    try {
      return Optional.of(jvm.getVMOption(flag).getValue());
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
