package io.github.gatlingllm.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.EnumFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.gatlingllm.record.RunFiles;
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
 * A self-contained HTML file with the layout of {@code page.peb}: a bar with the menu, facts at the
 * head, sections with charts, licences. It opens from disk, uses no network, and is readable
 * without scripts.
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
  private final String name;
  private final List<Section> sections;
  private final Map<String, Object> values = new HashMap<>();
  private String script =
      Templates.resource("forms.js")
          + Templates.resource("lanes.js")
          + Templates.resource("report.js");
  private String connections = "";

  /** {@code own} has the values of the template, with facts and choices if there are some. */
  Page(
      String template, String name, String title, Map<String, Object> own, List<Section> sections) {
    this.template = template;
    this.name = name;
    this.sections = sections;
    values.put("name", name);
    values.put("title", title);
    values.put("facts", List.of());
    values.put("choices", List.of());
    values.putAll(own);
  }

  String name() {
    return name;
  }

  /** This page with one more script, which may connect to the origin of the page. */
  Page following(String news) {
    script += Templates.resource(news);
    connections = "; connect-src 'self'";
    return this;
  }

  String html() {
    String theme = Templates.resource("theme.js");
    String echarts = Templates.resource("echarts/echarts.common.min.js");
    values.put("sections", sections);
    values.put("chartData", Templates.inScript(json(Map.of("charts", charts(sections)))));
    values.put("styles", Templates.resource("report.css"));
    values.put("theme", theme);
    values.put("echarts", echarts);
    values.put("script", script);
    values.put("policy", policy(theme, echarts, script) + connections);
    values.put(
        "licences",
        Stream.of("NOTICE", "LICENSE", "LICENSE-d3")
            .map(file -> Templates.resource("echarts/" + file))
            .toList());
    return Templates.fill(template, values);
  }

  void write(Path file) throws IOException {
    RunFiles.write(file.toAbsolutePath(), html());
  }

  static List<Chart> charts(List<Section> sections) {
    return sections.stream()
        .flatMap(section -> section.groups.stream())
        .flatMap(group -> group.content.stream())
        .toList();
  }

  /** One line of JSON; charts are written as the script needs them. */
  static String json(Map<String, Object> values) {
    try {
      return CHART_DATA.writeValueAsString(values);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("Chart data cannot be written as JSON", e);
    }
  }

  /** Content security policy: only these scripts run, by their hashes; nothing is loaded. */
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
   * A part of the page.
   *
   * @param keys of the choices that show it; empty for a part that is always shown
   * @param isFirst whether it is shown before a reader chooses
   */
  record PagePart<T>(String title, String keys, boolean isFirst, T content) {

    static <T> PagePart<T> always(String title, T content) {
      return new PagePart<>(title, "", true, content);
    }
  }

  record Section(
      String id,
      String title,
      String menu,
      String lead,
      String body,
      Map<String, Object> values,
      List<PagePart<List<Chart>>> groups,
      boolean isFolded) {

    Section {
      groups =
          groups.stream()
              .map(
                  of ->
                      new PagePart<>(
                          of.title,
                          of.keys,
                          of.isFirst,
                          of.content.stream().filter(Chart::hasPoints).toList()))
              .filter(of -> !of.content.isEmpty())
              .toList();
    }

    static Section of(String key, Object... values) {
      List<String> texts = Templates.texts("sections.txt", key, values);
      String id = key.replaceFirst(" .*", "");
      Map<String, Object> plain = Map.of("note", "", "tables", List.of());
      return new Section(
          id, texts.get(0), texts.get(1), texts.get(2), "plain", plain, List.of(), false);
    }

    Section body(String template, Map<String, Object> with) {
      return new Section(id, title, menu, lead, template, with, groups, isFolded);
    }

    Section body(String note, List<Table> tables) {
      return body("plain", Map.of("note", note, "tables", tables));
    }

    Section body(String note) {
      return body(note, List.of());
    }

    Section charts(List<Chart> drawn) {
      return groups(List.of(PagePart.always("", drawn)));
    }

    Section groups(List<PagePart<List<Chart>>> drawn) {
      return new Section(id, title, menu, lead, body, values, drawn, isFolded);
    }

    Section folded() {
      return new Section(id, title, menu, lead, body, values, groups, true);
    }
  }
}
