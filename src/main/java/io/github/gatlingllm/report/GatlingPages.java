package io.github.gatlingllm.report;

import io.github.gatlingllm.record.WholeFile;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.RequestGroup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Our marked pieces in the pages that Gatling wrote: a block and a menu entry on the index, a tab
 * on every page, a table on the page of each LLM request. Markup and styles of ours only; no
 * script.
 *
 * <p>Inserting twice gives the same bytes as inserting once; removing gives Gatling's own bytes
 * back.
 */
final class GatlingPages {

  private static final Pattern PAGE = Pattern.compile("(index|(req|group)_.*)\\.html");
  private static final Pattern MENU = Pattern.compile("<div class=\"nav\">\\s*<ul>");
  private static final Pattern TABS =
      Pattern.compile("<a id=\"details_link\" href=\"[^\"]*\">[^<]*</a></div>");
  private static final Pattern STATISTICS =
      Pattern.compile("<div id=\"statistics_table_container\">");
  private static final Pattern FIRST_CHART = Pattern.compile("<div class=\"schema geant\">");

  /** Gatling's own take some 100 KiB. */
  private static final long LARGEST_PAGE = 16 << 20;

  private static final int MOST_PAGES = 5_000;

  private GatlingPages() {}

  /**
   * Inserts our pieces into the pages of a run, in place of those that are there.
   *
   * @return a line for each page in which a piece found no place; empty also when Gatling wrote no
   *     pages
   */
  static List<String> insert(Path runDirectory, Summary summary) throws IOException {
    List<String> messages = new ArrayList<>();
    for (Path file : pages(runDirectory)) {
      MarkedPage page = new MarkedPage(read(file));
      page.after(TABS, "tab", Templates.fill("gatling-tab", Map.of()));
      String name = file.getFileName().toString();
      if (name.equals("index.html")) {
        page.after(MENU, "menu", Templates.fill("gatling-menu", Map.of()));
        page.before(STATISTICS, "block", index(summary));
      } else if (name.startsWith("req_")) {
        requestOf(page, summary)
            .ifPresent(request -> page.before(FIRST_CHART, "request", request(request)));
      }
      write(file, page.toString());
      if (!page.missing().isEmpty()) {
        messages.add(
            "LLM "
                + String.join(" and ", page.missing())
                + " left out of "
                + name
                + ": no place found in the page of this Gatling version; llm.html has it all");
      }
    }
    return messages;
  }

  /** Takes our pieces out again; pages that have none stay untouched. */
  static void remove(Path runDirectory) throws IOException {
    for (Path file : pages(runDirectory)) {
      write(file, new MarkedPage(read(file)).toString());
    }
  }

  /** The block on the index: verdict, six figures, assertions, a row per request name. */
  private static String index(Summary summary) {
    return Templates.fill(
        "gatling-index",
        Map.of(
            "styles", Templates.resource("gatling.css"),
            "verdict", summary.verdict(),
            "workload", new RunText(summary).workload(),
            "groups", Tiles.of(summary),
            "curves", KeyFigureTables.curves(summary),
            "pooled", new RunText(summary).pooled(),
            "assertions", OutcomeTables.assertions(summary.assertions()),
            "requests", KeyFigureTables.requests(summary)));
  }

  /** The block on the page of a request: all its times. */
  private static String request(RequestGroup request) {
    return Templates.fill(
        "gatling-request",
        Map.of(
            "styles", Templates.resource("gatling.css"),
            "link", "llm.html#" + KeyFigureTables.anchor(request.name()),
            "metrics", DistributionTables.times(request.figures())));
  }

  /** The LLM request whose page it is; of several names that fit, the longest. */
  private static Optional<RequestGroup> requestOf(MarkedPage page, Summary summary) {
    String text = page.toString();
    return summary.requests().stream()
        .filter(request -> MarkedPage.title(request.name()).matcher(text).find())
        .max((a, b) -> Integer.compare(a.name().length(), b.name().length()));
  }

  private static List<Path> pages(Path runDirectory) throws IOException {
    if (!Files.isRegularFile(runDirectory.resolve("index.html"))) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(runDirectory)) {
      return files
          .filter(file -> PAGE.matcher(file.getFileName().toString()).matches())
          .filter(file -> Files.isRegularFile(file) && file.toFile().length() <= LARGEST_PAGE)
          .sorted()
          .limit(MOST_PAGES)
          .toList();
    }
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.ISO_8859_1);
  }

  private static void write(Path file, String text) throws IOException {
    if (text.equals(read(file))) {
      return;
    }
    WholeFile.write(file, text.getBytes(StandardCharsets.ISO_8859_1));
  }
}
