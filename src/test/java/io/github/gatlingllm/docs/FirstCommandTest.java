package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/**
 * What {@code mvn gatling:test} downloads in a fresh clone: the class path of the tests, a POM and
 * often a parent for each jar, and the plugins up to phase {@code test-compile}.
 */
class FirstCommandTest {

  /** With 153 jars, and the plugins, Maven downloads 465 files. */
  private static final int MAX_JARS = 160;

  private static final Set<String> LATER =
      Set.of(
          "process-test-classes",
          "package",
          "pre-integration-test",
          "integration-test",
          "verify",
          "install",
          "none");

  @Test
  void classPathOfTheTestsIsSmall() {
    String all =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

    assertThat(all.split(File.pathSeparator))
        .filteredOn(entry -> entry.endsWith(".jar"))
        .hasSizeBetween(50, MAX_JARS);
  }

  @Test
  void mavenSearchesTheGatlingPluginFirst() throws Exception {
    assertThat(texts("/project/build/plugins/plugin[1]/artifactId"))
        .containsExactly("gatling-maven-plugin");
  }

  /** Maven downloads a plugin with an execution of no phase, to ask for its default. */
  @Test
  void onlyPluginsThatTheRunNeedsAreInItsPhases() throws Exception {
    Set<String> plugins = new TreeSet<>();
    for (Node execution : nodes("//plugin/executions/execution")) {
      List<String> phases = texts("phase", execution);
      boolean isDefault = texts("id", execution).toString().startsWith("[default-");
      if (phases.isEmpty() ? !isDefault : !LATER.contains(phases.get(0))) {
        plugins.addAll(texts("../../artifactId", execution));
      }
    }

    assertThat(plugins).containsExactly("build-helper-maven-plugin", "maven-resources-plugin");
  }

  private static List<Node> nodes(String path) throws Exception {
    Document pom = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse("pom.xml");
    return nodes(path, pom);
  }

  private static List<Node> nodes(String path, Node from) throws Exception {
    NodeList found =
        (NodeList)
            XPathFactory.newInstance().newXPath().evaluate(path, from, XPathConstants.NODESET);
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < found.getLength(); i++) {
      nodes.add(found.item(i));
    }
    return nodes;
  }

  private static List<String> texts(String path) throws Exception {
    return nodes(path).stream().map(Node::getTextContent).toList();
  }

  private static List<String> texts(String path, Node from) throws Exception {
    return nodes(path, from).stream().map(Node::getTextContent).toList();
  }
}
