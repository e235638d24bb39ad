package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReferencePageTest {

  @TempDir Path dir;

  @Test
  void identicalPagePasses() throws IOException {
    Path file = Files.writeString(dir.resolve("page.md"), "# Page\r\n");
    new ReferencePage(file, false).mustBe("# Page\n");
  }

  @Test
  void differentOrMissingPageFailsWithTheRemedy() throws IOException {
    Path file = Files.writeString(dir.resolve("page.md"), "# Old\n");
    assertThatThrownBy(() -> new ReferencePage(file, false).mustBe("# New\n"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-Dgatlingllm.docs.write=true");
    assertThat(file).hasContent("# Old\n");
    assertThatThrownBy(() -> new ReferencePage(dir.resolve("none.md"), false).mustBe("# New\n"))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void pageIsWrittenWithTheSwitch() throws IOException {
    Path file = dir.resolve("page.md");
    new ReferencePage(file, true).mustBe("# New\n");
    assertThat(file).hasContent("# New\n");
  }

  @Test
  void tablesAreFoundByTheirHeader() throws IOException {
    Path file = Files.writeString(dir.resolve("page.md"), "# A\n\n| x |\n|---|\n| 1 |\n\nB\n");
    List<List<List<String>>> two = List.of(List.of(List.of("2")));

    new ReferencePage(file, false).mustHave(List.of("x"), List.of(List.of(List.of("1"))));
    assertThatThrownBy(() -> new ReferencePage(file, false).mustHave(List.of("x"), two))
        .isInstanceOf(AssertionError.class);
    assertThatThrownBy(() -> new ReferencePage(file, true).mustHave(List.of("y"), two))
        .isInstanceOf(AssertionError.class);
    new ReferencePage(file, true).mustHave(List.of("x"), two);
    assertThat(file).hasContent("# A\n\n| x |\n|---|\n| 2 |\n\nB\n");
  }

  @Test
  void tableEscapesPipes() {
    assertThat(ReferencePage.table(List.of("a", "b"), List.of(List.of("1", "x|y"))))
        .isEqualTo("| a | b |\n|---|---|\n| 1 | x\\|y |\n");
  }
}
