package io.github.gatlingllm.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;

/**
 * A self-contained HTML file: a bar with the menu, a head, sections with charts, an end. It opens
 * from disk, asks no network, and is readable where scripts are off.
 */
final class Page {

  private final String name;
  private final String title;
  private Html head = new Html();
  private List<Section> sections = List.of();
  private Html end = new Html();

  /**
   * An empty one.
   *
   * @param name what kind of page it is; in the bar
   * @param title of the browser's window
   */
  Page(String name, String title) {
    this.name = name;
    this.title = title;
  }

  Page head(Html piece) {
    head = piece;
    return this;
  }

  Page sections(List<Section> inOrder) {
    sections = inOrder;
    return this;
  }

  Page end(Html piece) {
    end = piece;
    return this;
  }

  /** Writes it whole or not at all. */
  void write(Path file) throws IOException {
    Path target = file.toAbsolutePath();
    Path draft = target.resolveSibling(target.getFileName() + ".part");
    try {
      Files.writeString(draft, html(), StandardCharsets.UTF_8);
      Files.move(draft, target, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  private String html() {
    List<Chart> charts = sections.stream().flatMap(section -> section.charts().stream()).toList();
    Html html = new Html().raw("<!DOCTYPE html>\n").open("html", "lang", "en").open("head");
    String theme = Resource.text("theme.js");
    String echarts = Resource.text("echarts/echarts.min.js");
    String script = Resource.text("forms.js") + Resource.text("report.js");
    html.single("meta", "charset", "utf-8");
    html.single(
        "meta", "http-equiv", "Content-Security-Policy", "content", policy(theme, echarts, script));
    html.single("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
    html.single("link", "rel", "icon", "href", "data:,");
    html.element("title", title);
    html.open("style").raw(Resource.text("report.css")).close();
    html.open("script").raw(theme).close();
    html.close().open("body");
    html.element("a", "Skip to the report", "class", "skip", "href", "#report");
    html.add(bar()).open("main", "id", "report").add(head);
    sections.forEach(section -> html.add(section.html()));
    html.add(end).close();
    html.open("script", "type", "application/json", "id", "chart-data").raw(ChartData.json(charts));
    html.close().open("script").raw(echarts).close().open("script").raw(script).close();
    return html.close().close().toString();
  }

  private Html bar() {
    Html html = new Html().open("div", "class", "bar").element("strong", name);
    html.open("nav", "aria-label", "Sections").open("ul");
    for (Section section : sections) {
      html.open("li").element("a", section.menu(), "href", "#" + section.id()).close();
    }
    html.close().close();
    html.element("button", "Light or dark", "id", "theme", "type", "button", "data-script", "");
    return html.close();
  }

  /** Only our own scripts run, by their hashes, and nothing is loaded from anywhere. */
  private static String policy(String... scripts) {
    StringBuilder policy = new StringBuilder("default-src 'none'; style-src 'unsafe-inline';");
    policy.append(" img-src data:; base-uri 'none'; form-action 'none'; script-src");
    for (String script : scripts) {
      policy.append(" 'sha256-").append(sha256(script)).append('\'');
    }
    return policy.toString();
  }

  private static String sha256(String text) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return Base64.getEncoder().encodeToString(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(
          "This Java has no SHA-256; use a complete JDK 17 or later", e);
    }
  }
}
