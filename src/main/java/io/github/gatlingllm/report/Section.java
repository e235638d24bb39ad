package io.github.gatlingllm.report;

import java.util.List;

/**
 * One part of the page.
 *
 * @param id its anchor
 * @param title its heading
 * @param menu its name in the menu
 * @param lead what it answers, in a sentence or two; may be empty
 * @param body what comes before the charts
 * @param charts drawn below the body
 */
record Section(String id, String title, String menu, String lead, Html body, List<Chart> charts) {

  Section {
    charts = charts.stream().filter(Chart::hasPoints).toList();
  }

  Html html() {
    Html html = new Html().open("section", "id", id, "aria-labelledby", id + "-title");
    html.element("h2", title, "id", id + "-title");
    if (!lead.isEmpty()) {
      html.element("p", lead, "class", "lead");
    }
    html.add(body);
    if (!charts.isEmpty()) {
      html.open("div", "class", "charts");
      charts.forEach(chart -> html.add(new ChartFigure(chart).html()));
      html.close();
    }
    return html.close();
  }
}
