package io.github.gatlingllm.report;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A session of chromedriver by its protocol, W3C WebDriver: what the tests of pages need of it,
 * without the 25 libraries of a client.
 */
final class Driver implements AutoCloseable {

  private static final Pattern STARTED = Pattern.compile("started successfully on port (\\d+)");

  /** The name under which the protocol sends a reference to an element. */
  private static final String ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

  private static final int MAX_SCRIPT_MILLIS = 300_000;

  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.USE_LONG_FOR_INTS).build();

  private final HttpClient client = HttpClient.newHttpClient();
  private final Process process;
  private final URI session;

  private Driver(Process process, URI service, Map<String, ?> capabilities) {
    this.process = process;
    JsonNode created =
        call("POST", service, Map.of("capabilities", Map.of("alwaysMatch", capabilities)));
    session = service.resolve("session/" + created.path("sessionId").asText());
  }

  /** Starts the driver on a free port, and a browser. */
  static Driver start(Path executable, Map<String, ?> options) throws IOException {
    Process process =
        new ProcessBuilder(executable.toString(), "--port=0").redirectErrorStream(true).start();
    BufferedReader lines = process.inputReader();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Matcher port = STARTED.matcher(line);
      if (port.find()) {
        Thread rest = new Thread(() -> lines.lines().forEach(unused -> {}), "chromedriver-output");
        rest.setDaemon(true);
        rest.start();
        return new Driver(
            process,
            URI.create("http://127.0.0.1:" + port.group(1) + "/session"),
            Map.of(
                "browserName",
                "chrome",
                "goog:chromeOptions",
                options,
                "goog:loggingPrefs",
                Map.of("browser", "ALL", "performance", "ALL"),
                "timeouts",
                Map.of("script", MAX_SCRIPT_MILLIS)));
      }
    }
    throw new IOException(executable + " ended without a port");
  }

  void open(String url) {
    post("url", Map.of("url", url));
  }

  String title() {
    return call("GET", command("title"), null).asText();
  }

  void resize(int width, int height) {
    post("window/rect", Map.of("width", width, "height", height));
  }

  /** Value of a script: numbers are Long or Double, objects Map, arrays List. */
  @Nullable Object run(String script, Object... arguments) {
    return script("sync", script, arguments);
  }

  /** Value that a script hands to its last argument, a function. */
  @Nullable Object await(String script, Object... arguments) {
    return script("async", script, arguments);
  }

  private @Nullable Object script(String kind, String script, Object... arguments) {
    JsonNode value = post("execute/" + kind, Map.of("script", script, "args", List.of(arguments)));
    return JSON.convertValue(value, Object.class);
  }

  void devTools(String command, Map<String, ?> parameters) {
    post("goog/cdp/execute", Map.of("cmd", command, "params", parameters));
  }

  /** Entries of a log since the last call. */
  JsonNode log(String type) {
    return post("se/log", Map.of("type", type));
  }

  byte[] picture() {
    return Base64.getDecoder().decode(call("GET", command("screenshot"), null).asText());
  }

  /** Text of an element as the browser shows it. */
  String text(String selector) {
    return call("GET", command(element("css selector", selector) + "/text"), null).asText();
  }

  boolean isShown(String selector) {
    return call("GET", command(element("css selector", selector) + "/displayed"), null).asBoolean();
  }

  void click(String selector) {
    post(element("css selector", selector) + "/click", Map.of());
  }

  void clickLink(String text) {
    post(element("link text", text) + "/click", Map.of());
  }

  void type(String selector, String keys) {
    post(element("css selector", selector) + "/value", Map.of("text", keys));
  }

  private String element(String using, String value) {
    JsonNode found = post("element", Map.of("using", using, "value", value));
    return "element/" + found.path(ELEMENT).asText();
  }

  private JsonNode post(String name, Map<String, ?> body) {
    return call("POST", command(name), body);
  }

  private URI command(String name) {
    return URI.create(session + "/" + name);
  }

  /** Value of a response; an error of the driver is one of the test. */
  private JsonNode call(String method, URI command, @Nullable Map<String, ?> body) {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(command)
              .header("Content-Type", "application/json")
              .method(
                  method,
                  body == null
                      ? BodyPublishers.noBody()
                      : BodyPublishers.ofString(JSON.writeValueAsString(body)))
              .build();
      JsonNode value =
          JSON.readTree(client.send(request, BodyHandlers.ofByteArray()).body()).path("value");
      if (value.has("error")) {
        throw new IllegalStateException(command.getPath() + ": " + value.path("message").asText());
      }
      return value;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    try {
      call("DELETE", session, null);
    } finally {
      process.descendants().forEach(ProcessHandle::destroy);
      process.destroy();
    }
  }
}
