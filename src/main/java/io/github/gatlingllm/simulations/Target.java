package io.github.gatlingllm.simulations;

import org.jspecify.annotations.Nullable;

/**
 * A server under test and how it is addressed.
 *
 * @param model null where the server has only one and none is named
 * @param apiKey null where none is needed; never shown
 */
public record Target(EndpointSpec endpoint, @Nullable String model, @Nullable String apiKey) {

  /** Without the key. */
  @Override
  public String toString() {
    return endpoint.url()
        + (model == null ? "" : " " + model)
        + (apiKey == null ? "" : " (with API key)");
  }
}
