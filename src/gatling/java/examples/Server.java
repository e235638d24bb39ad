package examples;

import io.github.gatlingllm.engine.EmbeddedEngine;

/** The server that the examples talk to: yours, or an engine inside this JVM. */
record Server(String baseUrl, String model) {

  /** What {@code -Dendpoint} and {@code -Dmodel} name, else an embedded engine. */
  static Server fromProperties() {
    String endpoint = System.getProperty("endpoint");
    return endpoint == null
        ? new Server(EmbeddedEngine.builder().seed(1).start().baseUrl(), "embedded")
        : new Server(endpoint, System.getProperty("model", "default"));
  }
}
