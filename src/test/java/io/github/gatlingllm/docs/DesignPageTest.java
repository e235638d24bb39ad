package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/design.md fits on a few screens, and the classes that it names exist. */
class DesignPageTest {

  private static final Path PAGE = Path.of("docs/design.md");
  private static final Path SOURCES = Path.of("src/main/java/io/github/gatlingllm");
  private static final Pattern CLASS = Pattern.compile("`((?:[a-z]+\\.)+[A-Z]\\w+)`");

  @Test
  void namedClassesExist() throws IOException {
    List<Path> named =
        CLASS
            .matcher(Files.readString(PAGE))
            .results()
            .map(match -> SOURCES.resolve(match.group(1).replace('.', '/') + ".java"))
            .toList();

    assertThat(named).hasSizeGreaterThan(40).allSatisfy(source -> assertThat(source).exists());
  }

  @Test
  void pageHasAtMost200Lines() throws IOException {
    assertThat(Files.readAllLines(PAGE)).hasSizeLessThanOrEqualTo(200);
  }
}
