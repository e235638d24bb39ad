package io.github.gatlingllm.report;

import io.github.gatlingllm.report.Browser.Theme;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Takes the screenshot of a report for the README: verdict, load levels and their curve. Arguments:
 * the report, the picture.
 */
final class ReportPicture {

  private ReportPicture() {}

  public static void main(String[] args) throws IOException {
    Path profile = Files.createTempDirectory("report-picture");
    try (Browser browser = Browser.open(profile)) {
      browser.prefer(Theme.LIGHT).show(Path.of(args[0]).toAbsolutePath(), 1400, 2008);
      browser.picture(Path.of(args[1]));
    }
  }
}
