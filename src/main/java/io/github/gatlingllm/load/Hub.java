package io.github.gatlingllm.load;

import java.net.URI;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Hugging Face's Hub or a mirror of it, by the environment variables of the Hub's own tools.
 *
 * @param root its address, without a slash at its end
 * @param token logs in there, and is sent to no other host; null for none
 */
record Hub(String root, @Nullable String token) {

  static final String MAIN = "main";

  private static final String PUBLIC = "https://huggingface.co";

  /** The Hub by {@code HF_ENDPOINT} and {@code HF_TOKEN}. */
  static Hub of(Map<String, String> environment) {
    String mirror = environment.getOrDefault("HF_ENDPOINT", "").strip();
    String token = environment.getOrDefault("HF_TOKEN", "").strip();
    if (!mirror.isEmpty() && !mirror.matches("(?i)https?://[^\\s?#]+")) {
      throw new IllegalArgumentException(
          "HF_ENDPOINT is '%s'; expected https://<host>".formatted(DataFile.clipped(mirror)));
    }
    if (!token.matches("[\\x21-\\x7e]*")) { // else a message of the HTTP client quotes it
      throw new IllegalArgumentException("HF_TOKEN is invalid; expected ASCII without spaces");
    }
    return new Hub(
        mirror.isEmpty() ? PUBLIC : mirror.replaceFirst("/+$", ""), token.isEmpty() ? null : token);
  }

  String dataset(String name, String revision, String file) {
    return model("datasets/" + name, revision, file);
  }

  String model(String name, String revision, String file) {
    return "%s/%s/resolve/%s/%s".formatted(root, name, revision, file);
  }

  /** The login for an address of the Hub itself; null for others, as of the store of its files. */
  @Nullable String login(URI at) {
    return token == null || !origin(at).equals(origin(URI.create(root))) ? null : "Bearer " + token;
  }

  /** What to do if an address refuses a file. */
  String remedy(URI at) {
    if (!origin(at).equals(origin(URI.create(root)))) {
      return "if it needs a login, put it there by hand";
    }
    return token == null
        ? "check its name, accept its terms, set HF_TOKEN, or put it there by hand"
        : "accept its terms by the account of HF_TOKEN, or put it there by hand";
  }

  private static String origin(URI at) {
    boolean tls = "https".equalsIgnoreCase(at.getScheme());
    int port = at.getPort() >= 0 ? at.getPort() : tls ? 443 : 80;
    return "%s %s:%s".formatted(tls, String.valueOf(at.getHost()).toLowerCase(Locale.ROOT), port);
  }
}
