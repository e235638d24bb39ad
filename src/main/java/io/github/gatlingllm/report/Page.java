package io.github.gatlingllm.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.EnumFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.gatlingllm.record.WholeFile;
import io.github.gatlingllm.report.RunText.Fact;
import io.github.gatlingllm.report.ShownLevels.Choices;
import io.github.gatlingllm.report.ShownLevels.When;
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
   * @param choices of the load level that the page speaks of; may be empty
   */
  Page(
      String template,
      String name,
      String title,
      Map<String, Object> heading,
      List<Fact> facts,
      List<Choices> choices,
      List<Section> sections) {
    this.template = template;
    String theme = Templates.resource("theme.js");
    String echarts = Templates.resource("echarts/echarts.min.js");
    String script = Templates.resource("forms.js") + Templates.resource("report.js");
    values.putAll(heading);
    values.put("name", name);
    values.put("title", title);
    values.put("facts", facts);
    values.put("choices", choices);
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

  /** The same with one more script, which may ask for news where the page came from. */
  Page following(String news) {
    String script = values.get("script") + Templates.resource(news);
    values.put("script", script);
    values.put(
        "policy",
        policy((String) values.get("theme"), (String) values.get("echarts"), script)
            + "; connect-src 'self'");
    return this;
  }

  /** The page as text. */
  String html() {
    return Templates.fill(template, values);
  }

  /** Writes it whole or not at all. */
  void write(Path file) throws IOException {
    WholeFile.write(file.toAbsolutePath(), html());
  }

  /** What the charts draw, as one JSON object that is safe inside a script element. */
  private static String chartData(List<Section> sections) {
    return Templates.inScript(json(Map.of("charts", charts(sections))));
  }

  /** The charts of sections, in their order. */
  static List<Chart> charts(List<Section> sections) {
    return sections.stream()
        .flatMap(section -> section.groups.stream())
        .flatMap(group -> group.charts.stream())
        .toList();
  }

  /** One line of JSON; of charts what the script draws. */
  static String json(Map<String, Object> values) {
    try {
      return CHART_DATA.writeValueAsString(values);
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
   * Charts that are shown together.
   *
   * @param title may be empty
   * @param note may be empty
   * @param charts those without points are left out
   */
  record Charts(String title, String note, When when, List<Chart> charts) {

    Charts {
      charts = charts.stream().filter(Chart::hasPoints).toList();
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
   * @param groups of charts, drawn below the body
   */
  record Section(
      String id,
      String title,
      String menu,
      String lead,
      String body,
      Map<String, Object> values,
      List<Charts> groups) {

    Section {
      groups = groups.stream().filter(group -> !group.charts.isEmpty()).toList();
    }

    /**
     * A section with nothing but the texts of {@code sections.txt}.
     *
     * @param key its row there; up to a space it is the anchor
     * @param values what stands there for {@code {0}}, {@code {1}} …
     */
    static Section of(String key, Object... values) {
      List<String> texts = Templates.texts("sections.txt", key, values);
      String id = key.replaceFirst(" .*", "");
      Map<String, Object> plain = Map.of("note", "", "tables", List.of());
      return new Section(id, texts.get(0), texts.get(1), texts.get(2), "plain", plain, List.of());
    }

    /** The same with a body of its own. */
    Section body(String template, Map<String, Object> with) {
      return new Section(id, title, menu, lead, template, with, groups);
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
      return groups(List.of(new Charts("", "", When.ALWAYS, drawn)));
    }

    /** The same with groups of charts. */
    Section groups(List<Charts> drawn) {
      return new Section(id, title, menu, lead, body, values, drawn);
    }

    /** Whether there is anything to draw. */
    boolean hasCharts() {
      return !groups.isEmpty();
    }
  }
}
