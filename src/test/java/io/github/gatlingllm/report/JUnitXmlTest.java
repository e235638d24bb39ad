package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Assertion.Condition;
import io.github.gatlingllm.record.Objectives.Assertion.Scope;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Read with an XML parser that knows nothing of ours. */
class JUnitXmlTest {

  private static final String HOSTILE = "a<b>&\"'\u0000\u000b\ud800 ]]> \uD83D\uDE00";

  @Test
  void everyAssertionIsATestCase() throws Exception {
    Element suite = suite(DemoRun.sweep().demanding("ttft.max<1m", "errors=0", "goodput>=10%"));

    assertThat(suite.getAttribute("name")).isEqualTo("demo.DemoSimulation");
    assertThat(suite.getAttribute("tests")).isEqualTo("3");
    assertThat(suite.getAttribute("failures")).isEqualTo("1");
    assertThat(suite.getAttribute("errors")).isEqualTo("0");
    assertThat(Double.parseDouble(suite.getAttribute("time"))).isPositive();
    NodeList cases = suite.getElementsByTagName("testcase");
    assertThat(cases.getLength()).isEqualTo(3);
    Element met = (Element) cases.item(0);
    assertThat(met.getAttribute("classname")).isEqualTo("demo.DemoSimulation");
    assertThat(met.getAttribute("name")).isEqualTo("Global: max of TTFT is less than 60000.0");
    assertThat(met.getElementsByTagName("failure").getLength()).isZero();
    assertThat(met.getElementsByTagName("system-out").item(0).getTextContent())
        .startsWith("Global: max of TTFT is less than 60000.0 : true (actual : ");
    Element failure = (Element) suite.getElementsByTagName("failure").item(0);
    assertThat(((Element) failure.getParentNode()).getAttribute("name"))
        .isEqualTo("Global: count of failed requests is 0.0");
    assertThat(failure.getAttribute("message")).matches("expected = 0, actual \\d+");
    assertThat(failure.getTextContent()).contains(" : false (actual : ");
  }

  @Test
  void anyRequestNameGivesValidXml() throws Exception {
    Assertion missing =
        new Assertion(null, Scope.REQUEST, HOSTILE, "ttft.max", Condition.LT, List.of(1.0));
    Element suite = suite(DemoRun.sweep().demanding(List.of(missing)));

    Element only = (Element) suite.getElementsByTagName("testcase").item(0);
    assertThat(only.getAttribute("name"))
        .startsWith("a<b>&\"'\\u0000\\u000b\\ud800 ]]> \uD83D\uDE00: max of TTFT");
    assertThat(((Element) only.getElementsByTagName("failure").item(0)).getAttribute("message"))
        .isEqualTo("expected < 1 ms, actual –");
  }

  private static Element suite(DemoRun run) throws Exception {
    Summary summary = run.figures().summary();
    byte[] xml = SummaryText.junit(summary).getBytes(StandardCharsets.UTF_8);
    Element root =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(xml))
            .getDocumentElement();
    assertThat(root.getTagName()).isEqualTo("testsuites");
    return (Element) root.getElementsByTagName("testsuite").item(0);
  }
}
