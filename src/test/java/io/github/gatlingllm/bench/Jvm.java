package io.github.gatlingllm.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.xml.sax.SAXException;

/** How JVMs are started here. */
final class Jvm {

  static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();
  static final String CLASS_PATH = System.getProperty("java.class.path");

  /** What Gatling's Maven plugin sets by itself. */
  static final List<String> GATLING_DEFAULTS =
      List.of(
          "-Xmx1G",
          "-XX:+HeapDumpOnOutOfMemoryError",
          "-XX:MaxInlineLevel=20",
          "-XX:MaxTrivialSize=12",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");

  private Jvm() {}

  /** A command that starts one of our programs. */
  static List<String> command(List<String> options, Class<?> main, Object... arguments) {
    List<String> command = new ArrayList<>(List.of(JAVA));
    command.addAll(options);
    command.addAll(List.of("-cp", CLASS_PATH, main.getName()));
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    return command;
  }

  /** What the Maven plugin starts a run with: its defaults, and what that POM adds. */
  static List<String> optionsOf(Path pom) throws IOException {
    List<String> options = new ArrayList<>(GATLING_DEFAULTS);
    String added =
        parsed(pom).getElementsByTagName("gatling.jvmArgs").item(0).getTextContent().strip();
    options.addAll(List.of(added.split(",", -1)));
    return options;
  }

  private static Document parsed(Path pom) throws IOException {
    try (InputStream in = Files.newInputStream(pom)) {
      return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(in);
    } catch (ParserConfigurationException | SAXException e) {
      throw new IOException(pom + " is no XML", e);
    }
  }
}
