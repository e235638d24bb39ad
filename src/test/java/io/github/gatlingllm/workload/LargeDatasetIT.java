package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.testing.JavaCommand;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LargeDatasetIT {

  private static final int DIALOGS = 25_000;
  private static final long BYTES = 200_000_000L;
  private static final int HEAP_MEGABYTES = 96;

  @TempDir private Path folder;

  static final class Opening {
    private Opening() {}

    public static void main(String[] args) {
      Dataset dataset = Dataset.open(Dataset.Format.SHAREGPT, args[0], Tokenizer.chars4());
      Set<String> drawn = new HashSet<>();
      for (int i = 0; i < 1_000; i++) {
        drawn.add(dataset.dialog(42, i).promptMessages().get(0).content().substring(0, 12));
      }
      System.out.println(dataset.size() + " dialogs, " + drawn.size() + " drawn");
    }
  }

  @Test
  void twoHundredMegabytesFitIntoASmallHeap() throws Exception {
    Path file = generated();
    assertThat(Files.size(file)).isGreaterThan(BYTES);
    List<String> command =
        JavaCommand.of(List.of("-Xmx" + HEAP_MEGABYTES + "m"), Opening.class, file);
    assertThat(JavaCommand.output(new ProcessBuilder(command)))
        .isEqualTo(DIALOGS + " dialogs, 1000 drawn\n");
  }

  private Path generated() throws IOException {
    Path file = folder.resolve("large.json");
    String text = String.join(" ", Collections.nCopies(1_000, "word"));
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      for (int i = 0; i < DIALOGS; i++) {
        out.write(i == 0 ? "[" : ",\n");
        out.write("{\"id\": \"%s\", \"conversations\": [".formatted(i));
        out.write("{\"from\": \"human\", \"value\": \"%012d %s\"}, ".formatted(i, text));
        out.write("{\"from\": \"gpt\", \"value\": \"%s\"}]}".formatted(text.substring(0, 3_100)));
      }
      out.write("]\n");
    }
    return file;
  }
}
