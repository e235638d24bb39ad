package io.github.gatlingllm.report;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.RequestGroup;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.report.Page.PagePart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.unbescape.html.HtmlEscape;

/**
 * Inserts the LLM figures into the pages that Gatling wrote: a block and a menu entry on the index,
 * a tab on every page, a table on the page of each LLM request. Inserting twice gives the same
 * bytes as inserting once.
 */
final class GatlingPages {

  private static final Pattern PAGE = Pattern.compile("(index|(req|group)_.*)\\.html");
  private static final Pattern MENU = Pattern.compile("<div class=\"nav\">\\s*<ul>");
  private static final Pattern TABS =
      Pattern.compile("<a id=\"details_link\" href=\"[^\"]*\">[^<]*</a></div>");
  private static final Pattern STATISTICS =
      Pattern.compile("<div id=\"statistics_table_container\">");
  private static final Pattern FIRST_CHART = Pattern.compile("<div class=\"schema geant\">");

  /** In bytes; Gatling's own pages have about 100 KiB. */
  private static final long LARGEST_PAGE = 16 << 20;

  private static final int MAX_CURVES = 4;

  private static final String REPORT = "llm.html";

  private GatlingPages() {}

  static List<String> insert(Path runDirectory, Summary summary) throws IOException {
    List<String> messages = new ArrayList<>();
    for (Path file : pages(runDirectory)) {
      String before = Files.readString(file, ISO_8859_1);
      MarkedPage page = new MarkedPage(before);
      page.after(TABS, "tab", Templates.fill("gatling-tab", Map.of()));
      String name = file.getFileName().toString();
      if (name.equals("index.html")) {
        page.after(MENU, "menu", Templates.fill("gatling-menu", Map.of()));
        page.before(STATISTICS, "block", index(summary));
      } else if (name.startsWith("req_")) {
        requestOf(page, summary)
            .ifPresent(r -> page.before(FIRST_CHART, "request", request(summary, r.name())));
      }
      if (!before.equals(page.toString())) {
        RunFiles.write(file, page.toString().getBytes(ISO_8859_1));
      }
      if (!page.missing.isEmpty()) {
        messages.add(
            "LLM "
                + String.join(" and ", page.missing)
                + " omitted from "
                + name
                + ": the page of this Gatling version has no known place for it; see llm.html");
      }
    }
    return messages;
  }

  private static String index(Summary summary) {
    Map<String, Object> values = new HashMap<>();
    values.put("styles", Templates.resource("gatling.css"));
    values.put("verdict", summary.verdict());
    values.put("workload", RunText.fact(summary, "workload"));
    values.put("groups", VerdictSections.tiles(summary));
    values.put("tables", new Tables(summary, REPORT).at("gatling"));
    return Templates.fill("gatling-index", values);
  }

  private static String request(Summary summary, String name) {
    List<Row> all =
        summary.requestsAtPoints().stream()
            .filter(request -> request.name().equals(name))
            .map(request -> Row.of(summary, request))
            .toList();
    List<PagePart<Table>> times =
        all.stream()
            .limit(MAX_CURVES)
            .map(row -> PagePart.always(row.point(), MetricsSection.times(summary, row.figures())))
            .toList();
    Map<String, Object> values = new HashMap<>();
    values.put("styles", Templates.resource("gatling.css"));
    values.put("link", REPORT + "#" + Row.anchor(name));
    values.put("figures", new Tables(summary, REPORT).table("By request name", all));
    values.put("times", times);
    return Templates.fill("gatling-request", values);
  }

  /** The LLM request of the page; if its title ends with several names, the longest. */
  private static Optional<RequestGroup> requestOf(MarkedPage page, Summary summary) {
    String title = " / " + page.title();
    return summary.requests().stream()
        .filter(request -> title.endsWith(" / " + request.name()))
        .max(Comparator.comparingInt(request -> request.name().length()));
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
          .toList();
    }
  }

  /**
   * A foreign page with inserted pieces between comments. It is read as ISO-8859-1 and the pieces
   * are ASCII, so removing them restores its bytes, whatever its encoding.
   */
  private static final class MarkedPage {

    private static final Pattern TITLE =
        Pattern.compile("<title>Gatling Stats - ([^<\n]*)</title>");
    private static final String BEGIN = "<!-- gatling-llm:begin ";
    private static final String END = "<!-- gatling-llm:end -->";
    private static final Pattern PIECE = Pattern.compile("(?s)" + BEGIN + ".*?" + END);

    private final List<String> missing = new ArrayList<>();
    private String text;

    MarkedPage(String text) {
      this.text = PIECE.matcher(text).replaceAll("");
    }

    void before(Pattern anchor, String piece, String html) {
      insert(anchor, piece, html, true);
    }

    void after(Pattern anchor, String piece, String html) {
      insert(anchor, piece, html, false);
    }

    private void insert(Pattern anchor, String piece, String html, boolean isBefore) {
      var place = anchor.matcher(text);
      if (place.find()) {
        int at = isBefore ? place.start() : place.end();
        text =
            text.substring(0, at) + BEGIN + piece + " -->" + ascii(html) + END + text.substring(at);
      } else {
        missing.add(piece);
      }
    }

    @Override
    public String toString() {
      return text;
    }

    private static String ascii(String html) {
      return html.codePoints()
          .mapToObj(c -> c < 128 ? Character.toString(c) : "&#" + c + ";")
          .collect(Collectors.joining());
    }

    /** The groups and the name of the request in the title of Gatling's page. */
    String title() {
      Matcher title = TITLE.matcher(text);
      return title.find()
          ? HtmlEscape.unescapeHtml(new String(title.group(1).getBytes(ISO_8859_1), UTF_8))
          : "";
    }
  }
}
