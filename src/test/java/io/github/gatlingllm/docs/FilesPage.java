package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * {@code docs/files.md}, which lists every key of the files that it describes; those of metrics are
 * in the list of {@code docs/metrics.md}, which is made from their catalogue.
 */
public final class FilesPage {

  /** Objects whose keys are names of users, servers and systems. */
  private static final Set<String> MAPS =
      Set.of(
          ("config versions endpoints models scenarios apis turns streamed finish_reasons verdicts"
                  + " missed server server_names quotas settings values")
              .split(" "));

  private FilesPage() {}

  /** Fails if a key of the tree, at any depth, is not on the page. */
  public static void mustName(JsonNode tree) throws IOException {
    Set<String> keys = new TreeSet<>();
    gather(tree, keys);
    assertThat(words()).containsAll(keys);
  }

  /** The same for the components of a record, whose keys are in snake case. */
  static void mustName(Class<?> type) throws IOException {
    Set<String> keys = new TreeSet<>();
    gather(type, keys);
    assertThat(keys).isNotEmpty();
    assertThat(words()).containsAll(keys);
  }

  private static Set<String> words() throws IOException {
    return Stream.concat(
            found("[a-z0-9_]+", "docs/files.md"),
            found("(?<=`)[a-z0-9_.]+(?=`\\):)", "docs/metrics.md")
                .flatMap(key -> Stream.of(key.split("\\.", -1))))
        .collect(Collectors.toSet());
  }

  private static Stream<String> found(String pattern, String page) throws IOException {
    return Pattern.compile(pattern)
        .matcher(Files.readString(Path.of(page)))
        .results()
        .map(MatchResult::group);
  }

  private static void gather(JsonNode node, Set<String> keys) {
    node.properties()
        .forEach(
            entry -> {
              keys.add(entry.getKey());
              if (!MAPS.contains(entry.getKey())) {
                gather(entry.getValue(), keys);
              }
            });
    if (node.isArray()) {
      node.forEach(element -> gather(element, keys));
    }
  }

  private static void gather(Type type, Set<String> keys) {
    if (type instanceof ParameterizedType generic) {
      Arrays.stream(generic.getActualTypeArguments()).forEach(inner -> gather(inner, keys));
    } else if (type instanceof Class<?> raw && raw.isRecord()) {
      Stream.of(raw.getRecordComponents())
          .forEach(
              component -> {
                String name = SnakeCaseStrategy.INSTANCE.translate(component.getName());
                JsonProperty said = component.getAccessor().getAnnotation(JsonProperty.class);
                if (component.getAccessor().getAnnotation(JsonUnwrapped.class) == null) {
                  keys.add(said == null ? name : said.value());
                }
                gather(component.getGenericType(), keys);
              });
    }
  }
}
