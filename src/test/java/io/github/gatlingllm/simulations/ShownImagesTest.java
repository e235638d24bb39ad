package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.action.Sessions;
import io.github.gatlingllm.javaapi.LlmDsl;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.ShownImages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShownImagesTest {

  @TempDir Path folder;

  @Test
  void generatedImagesDependOnTheSeed() {
    ShownImages images = parse("2x4x3");

    assertThat(images)
        .hasToString(
            "2 images of 4 × 3 pixels per request, generated; 32 different"
                + " ones, which then repeat");
    assertThat(first(images, 0, 7)).isEqualTo(first(images, 0, 7));
    assertThat(first(images, 0, 7)).isNotEqualTo(first(images, 0, 8));
    assertThat(first(images, 0, 7)).isNotEqualTo(first(images, 1, 7));
  }

  @Test
  void largeImagesHaveFewerVariants() {
    assertThat(parse("1x1024x1024")).asString().contains("16 different ones");
    assertThat(parse("1x4096x4096")).asString().contains("1 different one,");
  }

  @Test
  void foldersGiveTheirImagesByName() throws IOException {
    Files.write(folder.resolve("b.jpg"), new byte[] {2});
    Files.write(folder.resolve("a.png"), new byte[] {1});
    Files.writeString(folder.resolve("notes.txt"), "none");

    assertThat(parse(folder.toString())).asString().contains("in turn");
    assertThat(
            LlmDsl.image(folder.resolve("b.jpg").toString()).url().resolve(Sessions.with(Map.of())))
        .isEqualTo("data:image/jpeg;base64,Ag==");
  }

  @Test
  void refusesFilesThatAreNotImages() throws IOException {
    Files.writeString(folder.resolve("notes.txt"), "none");

    assertThatThrownBy(() -> parse(folder.toString()))
        .hasMessageContaining("has no .png, .jpg, .gif or .webp");
    assertThatThrownBy(() -> parse(folder.resolve("notes.txt").toString()))
        .hasMessageContaining("expected .png, .jpg, .gif or .webp");
    assertThatThrownBy(() -> parse("none.png")).hasMessageContaining("no such file");
    assertThatThrownBy(() -> parse("0x9x9")).hasMessageContaining("1 image or more");
    assertThatThrownBy(() -> parse("1x9999x9999")).hasMessageContaining("pixels");
  }

  private static ShownImages parse(String text) {
    ShownImages images = Setting.IMAGES.parse(text);
    var unused = WorkloadScenarios.images(images, 0);
    return images;
  }

  private static String first(ShownImages images, int index, long seed) {
    return WorkloadScenarios.images(images, seed).get(index).url().resolve(Sessions.with(Map.of()));
  }
}
