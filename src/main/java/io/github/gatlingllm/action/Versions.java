package io.github.gatlingllm.action;

import io.gatling.javaapi.core.Simulation;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What ran: versions that decide how a measurement is read. */
final class Versions {

  private Versions() {}

  static Map<String, String> ofThisRun() {
    Map<String, String> versions = new LinkedHashMap<>();
    versions.put("gatling-llm", or(Versions.class.getPackage().getImplementationVersion(), "dev"));
    versions.put("gatling", or(Simulation.class.getPackage().getImplementationVersion(), "3.15"));
    versions.put("java", Runtime.version().toString());
    versions.put("os", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
    return versions;
  }

  private static String or(@Nullable String version, String otherwise) {
    return version == null ? otherwise : version;
  }
}
