package io.github.gatlingllm.report;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.record.RunFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What people read at the end of a run, of recorded ones: the block on the console and {@code
 * summary.md}. Who changes a text reads it here as a whole; the texts of the catalogues are in
 * {@code docs/}. Written again with {@code -Dgatlingllm.docs.write=true}.
 */
class MessagesTest {

  private static final Path FILE = Path.of("src", "test", "resources", "messages.txt");

  @TempDir Path folder;

  @Test
  void messagesAreThoseThatWereRead() throws IOException {
    StringBuilder all = new StringBuilder();
    for (String name : List.of("targets", "mix", "batch", "curve")) {
      Path run = folder.resolve(name);
      RunFiles files = new RunFiles(run);
      Files.createDirectories(files.requests().getParent());
      try (InputStream records = new GZIPInputStream(resource(name, "requests.jsonl.gz"));
          InputStream info = resource(name, "run.json")) {
        Files.copy(records, files.requests());
        Files.copy(info, files.info());
      }
      String console = CommandLine.call("render", run.toString()).output();
      all.append("######## console of ").append(name).append("\n\n").append(console);
      all.append("\n\n######## summary.md of ").append(name).append("\n\n");
      all.append(Files.readString(files.summaryMarkdown())).append("\n\n");
    }
    String text =
        all.toString().replace("\r\n", "\n").replace(folder.toUri().toString(), "file:///runs/");
    new ReferencePage(FILE, Boolean.getBoolean("gatlingllm.docs.write"))
        .mustBe(text.replace(folder.toString(), "/runs"));
  }

  private static InputStream resource(String run, String file) {
    return requireNonNull(
        MessagesTest.class.getResourceAsStream("/recorded/runs/" + run + "/" + file));
  }
}
