package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** A fresh headless Chromium that records console messages and network requests of pages. */
final class Browser implements AutoCloseable {

  private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
  private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
  private static final String UNTIL_DRAWN =
      """
      const done = arguments[arguments.length - 1];
      const classes = document.documentElement.classList;
      const look = () => (classes.contains("scripted") && !classes.contains("drawn") ? setTimeout(look, 10) : done());
      look();
      """;
  private static final ObjectMapper JSON = new ObjectMapper();

  enum Theme {
    LIGHT,
    DARK
  }

  /**
   * The element of a chart after drawing.
   *
   * @param label text for screen readers
   * @param paths lines and areas in its SVG
   * @param texts labels in its SVG
   */
  record Plot(String id, String label, long paths, long texts, boolean displayed) {}

  private static final String PLOTS =
      """
      [...document.querySelectorAll("%s .plot")].filter(plot => !plot.closest("[data-level]:not(.shown)")).map(plot => [
          plot.id,
          plot.getAttribute("aria-label") || "",
          plot.querySelectorAll("svg path").length,
          plot.querySelectorAll("svg text").length,
          plot.checkVisibility()])
      """;

  private final Driver driver;

  private Browser(Driver driver) {
    this.driver = driver;
  }

  /** Starts a browser, or skips the test without Chromium; in CI its absence is a failure. */
  static Browser open(Path profile) {
    boolean present = Files.isExecutable(CHROMIUM) && Files.isExecutable(DRIVER);
    if ("true".equals(System.getenv("CI"))) {
      assertThat(present).as("CI has " + CHROMIUM + " and " + DRIVER).isTrue();
    }
    assumeTrue(present, "skipped: needs Debian's chromium and chromium-driver in /usr/bin");
    Map<String, ?> options =
        Map.of(
            "binary",
            CHROMIUM.toString(),
            "args",
            List.of(
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage", // which containers have little of
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--user-data-dir=" + profile.toAbsolutePath(),
                "about:blank"));
    try {
      return new Browser(Driver.start(DRIVER, options));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Driver driver() {
    return driver;
  }

  /** Sets the colour scheme, clears stored choices and leaves the current page. */
  Browser prefer(Theme theme) {
    driver.run("try { localStorage.clear() } catch { }");
    driver.open("about:blank");
    Map<String, String> scheme =
        Map.of("name", "prefers-color-scheme", "value", theme.name().toLowerCase(Locale.ROOT));
    driver.devTools("Emulation.setEmulatedMedia", Map.of("features", List.of(scheme)));
    return this;
  }

  /** Opens a file at a window size; clears recorded messages and requests. */
  Browser show(Path page, int width, int height) {
    driver.resize(width, height);
    complaints();
    networkRequests();
    driver.open(page.toUri().toString());
    driver.await(UNTIL_DRAWN);
    return this;
  }

  /** Opens a file with scripts disabled, until {@link #letScriptsRun}. */
  Browser showWithoutScripts(Path page, int width, int height) {
    driver.devTools("Emulation.setScriptExecutionDisabled", Map.of("value", true));
    driver.resize(width, height);
    driver.open(page.toUri().toString());
    return this;
  }

  void letScriptsRun() {
    driver.devTools("Emulation.setScriptExecutionDisabled", Map.of("value", false));
  }

  Object eval(String expression) {
    return driver.run("return " + expression);
  }

  /** All charts of the chosen level in one call, as each call is slow. */
  List<Plot> plots() {
    return plots("main");
  }

  List<Plot> plots(String selector) {
    return ((List<?>) eval(PLOTS.formatted(selector)))
        .stream()
            .map(plot -> (List<?>) plot)
            .map(
                plot ->
                    new Plot(
                        (String) plot.get(0),
                        (String) plot.get(1),
                        (Long) plot.get(2),
                        (Long) plot.get(3),
                        (Boolean) plot.get(4)))
            .toList();
  }

  /** Opens all folded sections, so that their charts are drawn. */
  void unfold() {
    driver.await(
        """
        const done = arguments[arguments.length - 1];
        const folds = [...document.querySelectorAll('.fold:not([open])')];
        let left = folds.length;
        if (!left) done();
        for (const fold of folds) {
          fold.addEventListener('toggle', () => { if (--left === 0) setTimeout(done); });
          fold.open = true;
        }
        """);
  }

  List<String> texts(String selector) {
    return ((List<?>)
            driver.run(
                "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)",
                selector))
        .stream().map(String.class::cast).toList();
  }

  /** Number of elements that are visible. */
  long shown(String selector) {
    return (Long)
        driver.run(
            "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).length",
            selector);
  }

  void picture(Path file) throws IOException {
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.write(file, driver.picture());
  }

  /** Errors and warnings on the console since the last call. */
  List<String> complaints() {
    return log("browser")
        .filter(entry -> List.of("WARNING", "SEVERE").contains(entry.path("level").asText()))
        .map(entry -> entry.path("message").asText())
        .toList();
  }

  /** URLs requested since the last call, except files, data and Chromium's own pages. */
  List<String> networkRequests() {
    return log("performance")
        .map(entry -> message(entry.path("message").asText()))
        .filter(message -> message.path("method").asText().equals("Network.requestWillBeSent"))
        .map(message -> message.at("/params/request/url").asText())
        .filter(url -> !url.matches("(file|data|chrome):.*"))
        .toList();
  }

  private Stream<JsonNode> log(String type) {
    return StreamSupport.stream(driver.log(type).spliterator(), false);
  }

  private static JsonNode message(String entry) {
    try {
      return JSON.readTree(entry).path("message");
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    driver.close();
  }

  /** One browser for all test classes of a JVM that ask for one. */
  static final class Shared implements ParameterResolver {

    /** Closed when the last test class of the JVM has ended. */
    private record Opened(Browser browser) implements AutoCloseable {
      static Opened open() {
        try {
          Path target = Files.createDirectories(Path.of("target"));
          return new Opened(Browser.open(Files.createTempDirectory(target, "chromium-")));
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }

      @Override
      public void close() {
        browser.close();
      }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == Browser.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return context
          .getRoot()
          .getStore(Namespace.create(Browser.class))
          .getOrComputeIfAbsent("browser", key -> Opened.open(), Opened.class)
          .browser();
    }
  }
}
