package examples;

import io.github.gatlingllm.engine.EmbeddedEngine;

/** The server that the examples use: your own, or an engine inside this JVM. */
record Server(String baseUrl, String model) {

  /** The server that {@code -Dendpoint} and {@code -Dmodel} set, else an embedded engine. */
  static Server fromProperties() {
    String endpoint = System.getProperty("endpoint");
    return endpoint == null
        ? new Server(EmbeddedEngine.builder().seed(1).start().baseUrl(), "embedded")
        : new Server(endpoint, System.getProperty("model", "default"));
  }
}
