package io.github.gatlingllm.report;

import java.util.List;
import java.util.Map;

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
