package io.github.gatlingllm.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The recipes in {@code docs/ci}, parsed like by their CI systems. */
final class CiRecipes {

  static final Path FOLDER = Path.of("docs", "ci");

  private CiRecipes() {}

  record Block(String name, String shell, Map<?, ?> variables) {}

  static Map<?, ?> yaml(String file) throws IOException {
    return new Yaml(new SafeConstructor(new LoaderOptions()))
        .load(Files.readString(FOLDER.resolve(file)));
  }

  static List<Block> blocks(String file) throws IOException {
    return switch (file) {
      case "github-actions.yml", "github-matrix.yml", "github-nightly.yml" -> github(file);
      case "gitlab-ci.yml", "gitlab-nightly.yml" -> gitlab(file);
      default -> jenkins(file);
    };
  }

  private static List<Block> github(String file) throws IOException {
    List<Block> blocks = new ArrayList<>();
    for (Object job : map(yaml(file).get("jobs")).values()) {
      for (Object step : (List<?>) map(job).get("steps")) {
        Object run = map(step).get("run");
        if (run != null) {
          Object own = map(step).get("env");
          blocks.add(
              new Block(
                  String.valueOf(map(step).get("name")),
                  run.toString(),
                  own == null ? Map.of() : map(own)));
        }
      }
    }
    return blocks;
  }

  private static List<Block> gitlab(String file) throws IOException {
    List<Block> blocks = new ArrayList<>();
    yaml(file)
        .forEach(
            (name, job) -> {
              if (job instanceof Map<?, ?> map) {
                for (String key : List.of("script", "after_script")) {
                  if (map.get(key) instanceof List<?> lines) {
                    lines.forEach(
                        line -> blocks.add(new Block(name + " " + key, line.toString(), Map.of())));
                  }
                }
              }
            });
    return blocks;
  }

  private static List<Block> jenkins(String file) throws IOException {
    return Pattern.compile("sh '''(.*?)'''", Pattern.DOTALL)
        .matcher(Files.readString(FOLDER.resolve(file)))
        .results()
        .map(found -> new Block(file, found.group(1), Map.of()))
        .toList();
  }

  static Map<?, ?> map(Object value) {
    return (Map<?, ?>) value;
  }
}
