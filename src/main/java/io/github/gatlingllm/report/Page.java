package io.github.gatlingllm.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.EnumFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.gatlingllm.record.WholeFile;
import io.github.gatlingllm.report.RunText.Fact;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A self-contained HTML file, as {@code page.peb} lays it out: a bar with the menu, facts at its
 * head, sections with charts, licences. It opens from disk, asks no network, and is readable where
 * scripts are off.
 */
final class Page {

  private static final ObjectMapper CHART_DATA =
      JsonMapper.builder()
          .enable(EnumFeature.WRITE_ENUMS_TO_LOWERCASE)
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(
                  JsonInclude.Include.NON_EMPTY, JsonInclude.Include.ALWAYS))
          .build();

  private final String template;
  private final Map<String, Object> values = new HashMap<>();

  /**
   * A page.
   *
   * @param template that extends {@code page.peb}
   * @param name what kind of page it is; in the bar
   * @param title of the browser's window
   * @param heading what the template's heading is filled with
   * @param facts what stands below it
   */
  Page(
      String template,
      String name,
      String title,
      Map<String, Object> heading,
      List<Fact> facts,
      List<Section> sections) {
    this.template = template;
    String theme = Templates.resource("theme.js");
    String echarts = Templates.resource("echarts/echarts.min.js");
    String script = Templates.resource("forms.js") + Templates.resource("report.js");
    values.putAll(heading);
    values.put("name", name);
    values.put("title", title);
    values.put("facts", facts);
    values.put("sections", sections);
    values.put("chartData", chartData(sections));
    values.put("styles", Templates.resource("report.css"));
    values.put("theme", theme);
    values.put("echarts", echarts);
    values.put("script", script);
    values.put("policy", policy(theme, echarts, script));
    values.put(
        "licences",
        Stream.of("NOTICE", "LICENSE", "LICENSE-d3")
            .map(file -> Templates.resource("echarts/" + file))
            .toList());
  }

  /** Writes it whole or not at all. */
  void write(Path file) throws IOException {
    WholeFile.write(file.toAbsolutePath(), Templates.fill(template, values));
  }

  /** What the charts draw, as one JSON object that is safe inside a script element. */
  private static String chartData(List<Section> sections) {
    List<Chart> charts = sections.stream().flatMap(section -> section.charts().stream()).toList();
    try {
      return Templates.inScript(CHART_DATA.writeValueAsString(Map.of("charts", charts)));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("Chart data cannot be written as JSON", e);
    }
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

  /**
   * One part of a page; {@code page.peb} lays it out.
   *
   * @param id its anchor
   * @param title its heading
   * @param menu its name in the menu
   * @param lead what it answers, in a sentence or two; may be empty
   * @param body the template of what comes before the charts
   * @param values what the body is filled with
   * @param charts drawn below the body; those without points are left out
   */
  record Section(
      String id,
      String title,
      String menu,
      String lead,
      String body,
      Map<String, Object> values,
      List<Chart> charts) {

    Section {
      charts = charts.stream().filter(Chart::hasPoints).toList();
    }

    /** A section with nothing but a heading. */
    static Section of(String id, String title, String menu, String lead) {
      return new Section(
          id, title, menu, lead, "plain", Map.of("note", "", "tables", List.of()), List.of());
    }

    /** The same with a body of its own. */
    Section body(String template, Map<String, Object> with) {
      return new Section(id, title, menu, lead, template, with, charts);
    }

    /** The same with a remark and tables; {@code note} may be empty. */
    Section body(String note, List<Table> tables) {
      return body("plain", Map.of("note", note, "tables", tables));
    }

    Section body(String note) {
      return body(note, List.of());
    }

    /** The same with charts. */
    Section charts(List<Chart> drawn) {
      return new Section(id, title, menu, lead, body, values, drawn);
    }
  }
}
