package io.github.gatlingllm.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Style sheets, scripts and licences that lie in our jar beside this class. */
final class Resource {

  private Resource() {}

  static String text(String name) {
    try (InputStream in = Resource.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(
            "Report resource "
                + name
                + " is not in the jar; expected it beside the report classes;"
                + " rebuild gatling-llm");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read report resource " + name, e);
    }
  }
}
