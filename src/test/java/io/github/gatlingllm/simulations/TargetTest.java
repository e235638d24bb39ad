package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class TargetTest {

  static Stream<Arguments> targets() {
    return Stream.of(
        arguments(List.of("http://a:8000/v1"), List.of("m"), List.of("a:8000")),
        arguments(
            List.of("http://a:8000/v1", "http://a:8001/v1"),
            List.of("m", "m"),
            List.of("a:8000", "a:8001")),
        arguments(
            List.of("http://a/v1", "http://a/v1"),
            List.of("small", "large"),
            List.of("small", "large")),
        arguments(
            List.of("http://a/v1", "http://a/v1", "http://b/v1"),
            List.of("x", "y", "x"),
            List.of("a x", "a y", "b x")),
        arguments(
            List.of("http://a/one/v1", "http://a/two/v1"),
            List.of("m", "m"),
            List.of("http://a/one/v1", "http://a/two/v1")),
        arguments(
            List.of("http://a/v1/chat/completions", "http://a/v1/completions"),
            List.of("m", "m"),
            List.of("http://a/v1/chat/completions", "http://a/v1/completions")),
        arguments(
            List.of("http://a/v1", "http://a/v1"), List.of("m", "m"), List.of("a #1", "a #2")),
        arguments(List.of("http://a/v1", "http://a/v1"), List.of("", ""), List.of("a #1", "a #2")),
        arguments(
            List.of("vLLM = http://a/v1", "http://b/v1"), List.of("m", "m"), List.of("vLLM", "b")),
        arguments(
            List.of("vLLM=http://a/v1", "vLLM=http://a/v1", "SGLang=http://b/v1"),
            List.of("x", "y", "x"),
            List.of("vLLM x", "vLLM y", "SGLang x")));
  }

  @ParameterizedTest
  @MethodSource("targets")
  void labelsAreTheShortestDistinctTexts(
      List<String> urls, List<String> models, List<String> labels) {
    List<Target> targets = new ArrayList<>();
    for (int i = 0; i < urls.size(); i++) {
      EndpointSpec.Named url = EndpointSpec.Named.parse(urls.get(i));
      targets.add(
          new Target(url.name(), EndpointSpec.parse(url.url(), null), model(models.get(i)), null));
    }
    assertThat(Target.labels(targets)).isEqualTo(labels);
  }

  private static @Nullable String model(String name) {
    return name.isEmpty() ? null : name;
  }
}
