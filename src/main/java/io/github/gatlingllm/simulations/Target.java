package io.github.gatlingllm.simulations;

import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

record Target(
    @Nullable String name, EndpointSpec endpoint, @Nullable String model, @Nullable String apiKey) {

  /** Candidates for the labels of targets, the shortest first. */
  private static final List<Function<Target, @Nullable String>> NAMES =
      List.of(
          target -> target.named(Target::host),
          target -> target.named(Target::model),
          target ->
              target.model == null ? target.name : target.named(Target::host) + " " + target.model,
          target -> target.named(each -> each.endpoint.baseUrl()),
          target -> target.named(each -> each.endpoint.url()));

  /**
   * The labels of targets in results: their names, else the shortest text that distinguishes them.
   */
  static List<String> labels(List<Target> targets) {
    for (Function<Target, @Nullable String> name : NAMES) {
      List<String> labels = targets.stream().map(name).filter(Objects::nonNull).toList();
      if (new HashSet<>(labels).size() == targets.size()) {
        return labels;
      }
    }
    return IntStream.range(0, targets.size())
        .mapToObj(i -> targets.get(i).named(Target::host) + " #" + (i + 1))
        .toList();
  }

  private @Nullable String named(Function<Target, @Nullable String> otherwise) {
    return name == null ? otherwise.apply(this) : name;
  }

  private String host() {
    return URI.create(endpoint.url()).getRawAuthority();
  }

  /** Leaves out the API key. */
  @Override
  public String toString() {
    return endpoint.url()
        + (model == null ? "" : " " + model)
        + (apiKey == null ? "" : " (with API key)");
  }
}
