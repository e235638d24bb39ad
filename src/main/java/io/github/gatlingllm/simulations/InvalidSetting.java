package io.github.gatlingllm.simulations;

/**
 * A setting that is wrong, unknown or contradicts another. The message is the one line to show: it
 * names the setting, its value and what is allowed, and never holds the API key.
 */
public final class InvalidSetting extends RuntimeException {

  private static final long serialVersionUID = 1L;

  InvalidSetting(String message) {
    super(message);
  }
}
