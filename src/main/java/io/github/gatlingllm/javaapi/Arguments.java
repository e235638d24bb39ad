package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.InvalidSimulation;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks the arguments of the builders. Each method returns its argument, or throws. */
final class Arguments {

  private Arguments() {}

  static int atLeast(int least, String method, int value, String noun) {
    if (value < least) {
      throw InvalidSimulation.because(
          "%s(%s): expected %s %s or more".formatted(method, value, least, noun));
    }
    return value;
  }

  static double above0(String method, double value) {
    if (value > 0 && value < Double.POSITIVE_INFINITY) {
      return value;
    }
    throw InvalidSimulation.because(method + "(" + value + "): expected a number above 0");
  }

  static Duration above0(String method, Duration value) {
    if (value.isNegative() || value.isZero()) {
      throw InvalidSimulation.because(method + "(" + value + "): expected more than zero");
    }
    return value;
  }

  static List<String> all(String first, String... more) {
    return Stream.concat(Stream.of(first), Stream.of(more)).toList();
  }

  /** An http or https URL without credentials; the result has no slash at its end. */
  static String url(@Nullable String url) {
    if (url == null) {
      throw InvalidSimulation.because(
          "baseUrl(null): expected something like http://localhost:8000/v1; is the environment"
              + " variable or property set that it comes from?");
    }
    String trimmed = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    URI uri = null;
    try {
      uri = URI.create(trimmed);
    } catch (IllegalArgumentException e) {
      // The message below applies.
    }
    if (uri != null && uri.getRawUserInfo() != null) {
      throw InvalidSimulation.because(
          "baseUrl(…): expected no credentials in the URL; use .apiKey(…) or"
              + " .header(\"Authorization\", …)");
    }
    if (uri == null
        || uri.getHost() == null
        || !List.of("http", "https").contains(String.valueOf(uri.getScheme()))) {
      throw InvalidSimulation.because(
          "'" + url + "' is no base URL; expected something like http://localhost:8000/v1");
    }
    return trimmed;
  }
}
