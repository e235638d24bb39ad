package io.github.gatlingllm.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RunFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Properties of reports of large runs, tested with a run of moderate size. */
class BigRunTest {

  @TempDir Path directory;

  @Test
  void pageSizeIsBoundedAndIndependentOfRecordOrder() throws IOException {
    RunFiles files = new RunFiles(directory);
    new BigRun(4_000, 60, 960).write(directory);
    RunReport.of(files).write();
    byte[] page = Files.readAllBytes(files.page());
    assertThat(page.length).isBetween(1_000_000, 2_500_000);

    RunReport.of(files).write();
    assertThat(Files.readAllBytes(files.page())).isEqualTo(page);

    List<String> lines = new ArrayList<>(Files.readAllLines(files.requests()));
    Collections.shuffle(lines, new Random(5));
    Files.write(files.requests(), lines);
    String drawn = charts(page);
    RunReport.of(files).write();
    assertThat(charts(Files.readAllBytes(files.page()))).isEqualTo(drawn);
  }

  /** The data of all charts from the percentiles on. */
  private static String charts(byte[] page) {
    String html = new String(page, UTF_8);
    int from = html.indexOf("{\"id\":\"percentiles-0\"");
    assertThat(from).isPositive();
    return html.substring(from, html.indexOf("</script>", from));
  }
}
