package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gatling.http.client.Request;
import io.github.gatlingllm.record.PrintableText;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.ByteArrayOutputStream;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs one request and its response with the logger and in the format of Gatling's HTTP protocol:
 * failed requests at level DEBUG, all at TRACE. Made only where the logger is enabled. Secrets are
 * removed, bodies are cut at 64 KiB, and the text is a {@link PrintableText}.
 */
final class Transcript {

  private static final Logger LOGGER = LoggerFactory.getLogger("io.gatling.http.engine.response");
  private static final int MAX_BODY_BYTES = 64 * 1024;
  private static final String LINE = "=========================\n";

  private final Request request;
  private final Secrets secrets;
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private String status = "";
  private @Nullable HttpHeaders headers;
  private boolean cut;

  private Transcript(Request request, Secrets secrets) {
    this.request = request;
    this.secrets = secrets;
  }

  /** Transcript of a request that is about to be sent; null where the logger is off. */
  static @Nullable Transcript ifEnabled(Request request, Secrets secrets) {
    return LOGGER.isDebugEnabled() ? new Transcript(request, secrets) : null;
  }

  void response(String protocolAndStatus, HttpHeaders of) {
    status = protocolAndStatus;
    headers = of;
  }

  void body(byte[] bytes, int from, int length) {
    int stored = Math.min(length, MAX_BODY_BYTES - body.size());
    body.write(bytes, from, stored);
    cut |= stored < length;
  }

  void log(String name, Object session, @Nullable String error) {
    if (error != null) {
      LOGGER.debug(text(name + ": KO " + error, session));
    } else if (LOGGER.isTraceEnabled()) {
      LOGGER.trace(text(name + ": OK", session));
    }
  }

  private String text(String outcome, Object session) {
    StringBuilder text = new StringBuilder();
    text.append("\n>>>>>>>>>>>>>>>>>>>>>>>>>>\nRequest:\n").append(outcome).append('\n');
    text.append(LINE).append("Session:\n").append(session).append('\n');
    text.append(LINE).append("HTTP request:\n").append(request.getMethod()).append(' ');
    text.append(Secrets.redactUrl(request.getUri().toUrl())).append('\n');
    headers(request.getHeaders(), text);
    byte[] sent = request.getBody() == null ? new byte[0] : request.getBody().getBytes();
    body(sent, Math.min(sent.length, MAX_BODY_BYTES), sent.length > MAX_BODY_BYTES, text);
    text.append(LINE).append("HTTP response:\n");
    if (headers != null) {
      text.append("status:\n\t").append(status).append('\n');
      headers(headers, text);
      body(body.toByteArray(), body.size(), cut, text);
    }
    return PrintableText.of(secrets.redactKeys(text.toString())) + "<<<<<<<<<<<<<<<<<<<<<<<<<";
  }

  private static void headers(HttpHeaders headers, StringBuilder text) {
    text.append("headers:\n");
    for (Map.Entry<String, String> header : headers) {
      String name = header.getKey();
      String value = Secrets.isNamed(name) ? Secrets.REDACTED : header.getValue();
      text.append('\t').append(name).append(": ").append(value).append('\n');
    }
  }

  private static void body(byte[] bytes, int length, boolean cut, StringBuilder text) {
    text.append("body:\n").append(new String(bytes, 0, length, UTF_8));
    text.append(cut ? "…\n" : "\n");
  }
}
