package io.github.gatlingllm.simulations;

import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** What targets are called in results: the shortest thing that tells them apart. */
final class TargetLabels {

  private static final List<Function<Target, @Nullable String>> NAMES =
      List.of(
          TargetLabels::host,
          Target::model,
          target -> target.model() == null ? null : host(target) + " " + target.model(),
          target -> target.endpoint().baseUrl(),
          target -> target.endpoint().url());

  private TargetLabels() {}

  /** A label per target, in their order, no two the same. */
  static List<String> of(List<Target> targets) {
    for (Function<Target, @Nullable String> name : NAMES) {
      List<String> labels = targets.stream().map(name).filter(Objects::nonNull).toList();
      if (new HashSet<>(labels).size() == targets.size()) {
        return labels;
      }
    }
    return IntStream.range(0, targets.size())
        .mapToObj(i -> host(targets.get(i)) + " #" + (i + 1))
        .toList();
  }

  private static String host(Target target) {
    return URI.create(target.endpoint().url()).getRawAuthority();
  }
}
