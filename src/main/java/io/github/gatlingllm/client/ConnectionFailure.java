package io.github.gatlingllm.client;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import javax.net.ssl.SSLException;

/** Says why a connection failed in words that are the same for every occurrence of one cause. */
final class ConnectionFailure {

  private static final int LONGEST = 200;

  private ConnectionFailure() {}

  static String reason(Throwable cause) {
    String message = cause.getMessage() == null ? "" : cause.getMessage();
    if (cause instanceof UnknownHostException || message.contains("Failed to resolve")) {
      return "unknown host: check the endpoint's name";
    }
    if (message.contains("connection timed out")) {
      return "connect timeout: no answer from the endpoint's address";
    }
    if (cause instanceof ConnectException || message.contains("Connection refused")) {
      return "connection refused: is the server running at the endpoint's port?";
    }
    if (message.contains("Connection reset")) {
      return "connection reset by the server";
    }
    if (message.contains("Broken pipe")) {
      return "connection closed by the server while the request was sent";
    }
    if (message.contains("Too many open files")) {
      return "too many open files: raise the limit (ulimit -n) of the load generator";
    }
    if (message.contains("Cannot assign requested address")) {
      return "no local port left: share connections, or add local addresses";
    }
    if (cause instanceof SSLException) {
      return shortened("TLS failed: " + message);
    }
    return shortened(
        cause instanceof IOException && !message.isEmpty()
            ? message
            : cause.getClass().getSimpleName() + ": " + message);
  }

  private static String shortened(String text) {
    String line = text.replaceAll("[\\r\\n]+", " ");
    return line.length() <= LONGEST ? line : line.substring(0, LONGEST - 1) + "…";
  }
}
