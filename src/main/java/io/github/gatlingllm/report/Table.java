package io.github.gatlingllm.report;

import java.util.List;

/**
 * A table on the page, scrolling within its own box where the screen is narrow. The first column
 * names the row.
 */
final class Table {

  private final Html html = new Html();
  private final int columns;

  /**
   * @param label what the table holds, for screen readers
   * @param headings one per column
   */
  Table(String label, List<String> headings) {
    this(label, headings, "");
  }

  /**
   * @param kind a class for the table: {@code compact} keeps remarks beside the row's name, {@code
   *     notes} keeps them on narrow screens
   */
  Table(String label, List<String> headings, String kind) {
    columns = headings.size();
    html.open("div", "class", "scroll", "tabindex", "0", "role", "region", "aria-label", label);
    html.open("table", "class", kind).open("thead").open("tr");
    headings.forEach(heading -> html.element("th", heading, "scope", "col"));
    html.close().close().open("tbody");
  }

  /** Starts a body of rows under a heading of its own. */
  Table group(String heading, String remark) {
    html.close().open("tbody").open("tr", "class", "group");
    html.open("th", "colspan", Integer.toString(columns), "scope", "rowgroup").text(heading);
    html.element("small", remark).close().close();
    return this;
  }

  /** Starts a row; {@code remark} may be empty. */
  Table row(String name, String remark) {
    return row(new Html().text(name), remark);
  }

  /** Starts a row whose name holds markup, such as a link. */
  Table row(Html name, String remark) {
    html.open("tr").open("th", "scope", "row").add(name);
    if (!remark.isEmpty()) {
      html.element("small", remark);
    }
    html.close();
    return this;
  }

  /** A figure. */
  Table cell(String text) {
    html.element("td", text);
    return this;
  }

  /** A figure in a class of its own: {@code low} marks it as uncertain, {@code words} as text. */
  Table cell(String text, String kind) {
    html.element("td", text, "class", kind);
    return this;
  }

  /** A figure in a class of its own, with a remark below it that may be empty. */
  Table cell(String text, String kind, String remark) {
    html.open("td", "class", kind).element("span", text);
    if (!remark.isEmpty()) {
      html.element("small", remark);
    }
    html.close();
    return this;
  }

  /** A cell with markup. */
  Table cell(Html content) {
    html.open("td").add(content).close();
    return this;
  }

  /** Ends the row. */
  Table end() {
    html.close();
    return this;
  }

  /** Ends the table. */
  Html html() {
    return html.close().close().close();
  }
}
