package io.github.gatlingllm.simulations;

import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A server under test and how it is addressed.
 *
 * @param model null where the server has only one and none is named
 * @param apiKey null where none is needed; never shown
 */
record Target(EndpointSpec endpoint, @Nullable String model, @Nullable String apiKey) {

  /** What may tell targets apart, the shortest first. */
  private static final List<Function<Target, @Nullable String>> NAMES =
      List.of(
          Target::host,
          Target::model,
          target -> target.model == null ? null : target.host() + " " + target.model,
          target -> target.endpoint.baseUrl(),
          target -> target.endpoint.url());

  /**
   * What targets are called in results: the shortest thing that tells them apart. One per target,
   * in their order, no two the same.
   */
  static List<String> labels(List<Target> targets) {
    for (Function<Target, @Nullable String> name : NAMES) {
      List<String> labels = targets.stream().map(name).filter(Objects::nonNull).toList();
      if (new HashSet<>(labels).size() == targets.size()) {
        return labels;
      }
    }
    return IntStream.range(0, targets.size())
        .mapToObj(i -> targets.get(i).host() + " #" + (i + 1))
        .toList();
  }

  private String host() {
    return URI.create(endpoint.url()).getRawAuthority();
  }

  /** Without the key. */
  @Override
  public String toString() {
    return endpoint.url()
        + (model == null ? "" : " " + model)
        + (apiKey == null ? "" : " (with API key)");
  }
}
