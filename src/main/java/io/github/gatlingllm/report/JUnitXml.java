package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.WholeFile;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.AssertionResult;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * The assertions of a run as {@code llm/junit.xml}, which CI servers show as tests: a suite named
 * like the simulation, a test case per assertion.
 */
final class JUnitXml {

  private JUnitXml() {}

  /** Writes the file; a run without assertions has none. */
  static void write(Summary summary, Path junitXml) throws IOException {
    if (summary.assertions().isEmpty()) {
      Files.deleteIfExists(junitXml);
    } else {
      WholeFile.write(junitXml, of(summary));
    }
  }

  /** The whole file. */
  static String of(Summary summary) {
    StringWriter out = new StringWriter();
    try {
      XMLStreamWriter xml = XMLOutputFactory.newFactory().createXMLStreamWriter(out);
      xml.writeStartDocument("UTF-8", "1.0");
      suites(xml, summary);
      xml.writeEndDocument();
      xml.close();
    } catch (XMLStreamException e) {
      throw new IllegalStateException("text in memory can always be written to", e);
    }
    return out.append('\n').toString();
  }

  private static void suites(XMLStreamWriter xml, Summary summary) throws XMLStreamException {
    List<AssertionResult> results = summary.assertions();
    String simulation =
        summary.run().simulation() == null ? summary.run().id() : summary.run().simulation();
    double seconds = (summary.run().endUnixNs() - summary.run().startUnixNs()) / 1e9;
    open(xml, 0, "testsuites");
    open(xml, 1, "testsuite");
    attribute(xml, "name", simulation);
    attribute(xml, "tests", Integer.toString(results.size()));
    attribute(xml, "failures", Long.toString(results.stream().filter(r -> !r.ok()).count()));
    attribute(xml, "errors", "0");
    attribute(xml, "skipped", "0");
    attribute(xml, "time", String.format(Locale.ROOT, "%.3f", seconds));
    for (AssertionResult result : results) {
      testCase(xml, simulation, result);
    }
    close(xml, 1);
    close(xml, 0);
  }

  private static void testCase(XMLStreamWriter xml, String simulation, AssertionResult result)
      throws XMLStreamException {
    open(xml, 2, "testcase");
    attribute(xml, "classname", simulation);
    attribute(xml, "name", result.text());
    attribute(xml, "time", "0");
    String what =
        "expected " + result.expected() + ", actual " + NumberText.orAbsent(result.actual());
    if (result.ok()) {
      open(xml, 3, "system-out");
    } else {
      open(xml, 3, "failure");
      attribute(xml, "type", "assertion");
      attribute(xml, "message", what);
    }
    xml.writeCharacters(valid(result.line()));
    xml.writeEndElement();
    close(xml, 2);
  }

  private static void open(XMLStreamWriter xml, int depth, String name) throws XMLStreamException {
    xml.writeCharacters("\n" + "  ".repeat(depth));
    xml.writeStartElement(name);
  }

  private static void close(XMLStreamWriter xml, int depth) throws XMLStreamException {
    xml.writeCharacters("\n" + "  ".repeat(depth));
    xml.writeEndElement();
  }

  private static void attribute(XMLStreamWriter xml, String name, String value)
      throws XMLStreamException {
    xml.writeAttribute(name, valid(value));
  }

  /** Request names may hold what XML 1.0 does not allow, not even escaped. */
  private static String valid(String text) {
    StringBuilder valid = new StringBuilder(text.length());
    ConsoleBlock.visible(text)
        .codePoints()
        .map(c -> isAllowed(c) ? c : '\uFFFD')
        .forEach(valid::appendCodePoint);
    return valid.toString();
  }

  private static boolean isAllowed(int c) {
    return c == '\t'
        || c == '\n'
        || (c >= 0x20 && c <= 0xD7FF)
        || (c >= 0xE000 && c <= 0xFFFD)
        || c >= 0x10000;
  }
}
