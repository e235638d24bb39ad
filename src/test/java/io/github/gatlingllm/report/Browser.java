package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.logging.Level;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

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
      [...document.querySelectorAll(".plot")].filter(plot => !plot.closest("[data-level]:not(.shown)")).map(plot => [
          plot.id,
          plot.getAttribute("aria-label") || "",
          plot.querySelectorAll("svg path").length,
          plot.querySelectorAll("svg text").length,
          plot.checkVisibility()])
      """;

  private final ChromeDriver driver;

  private Browser(ChromeDriver driver) {
    this.driver = driver;
  }

  /** Starts a browser, or skips the test without Chromium; in CI its absence is a failure. */
  static Browser open(Path profile) {
    boolean present = Files.isExecutable(CHROMIUM) && Files.isExecutable(DRIVER);
    if ("true".equals(System.getenv("CI"))) {
      assertThat(present).as("CI has " + CHROMIUM + " and " + DRIVER).isTrue();
    }
    assumeTrue(present, "skipped: needs Debian's chromium and chromium-driver in /usr/bin");
    ChromeOptions options = new ChromeOptions();
    options.setBinary(CHROMIUM.toFile());
    options.addArguments(
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
        "about:blank");
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    logs.enable(LogType.PERFORMANCE, Level.ALL);
    options.setCapability("goog:loggingPrefs", logs);
    ChromeDriverService service =
        new ChromeDriverService.Builder().usingDriverExecutable(DRIVER.toFile()).build();
    ChromeDriver driver = new ChromeDriver(service, options);
    driver.manage().timeouts().scriptTimeout(Duration.ofMinutes(5));
    return new Browser(driver);
  }

  ChromeDriver driver() {
    return driver;
  }

  /** Sets the colour scheme, clears stored choices and leaves the current page. */
  Browser prefer(Theme theme) {
    driver.executeScript("try { localStorage.clear() } catch { }");
    driver.get("about:blank");
    Map<String, String> scheme =
        Map.of("name", "prefers-color-scheme", "value", theme.name().toLowerCase(Locale.ROOT));
    driver.executeCdpCommand("Emulation.setEmulatedMedia", Map.of("features", List.of(scheme)));
    return this;
  }

  /** Opens a file at a window size; clears recorded messages and requests. */
  Browser show(Path page, int width, int height) {
    driver.manage().window().setSize(new Dimension(width, height));
    complaints();
    networkRequests();
    driver.get(page.toUri().toString());
    driver.executeAsyncScript(UNTIL_DRAWN);
    return this;
  }

  /** Opens a file with scripts disabled, until {@link #letScriptsRun}. */
  Browser showWithoutScripts(Path page, int width, int height) {
    driver.executeCdpCommand("Emulation.setScriptExecutionDisabled", Map.of("value", true));
    driver.manage().window().setSize(new Dimension(width, height));
    driver.get(page.toUri().toString());
    return this;
  }

  void letScriptsRun() {
    driver.executeCdpCommand("Emulation.setScriptExecutionDisabled", Map.of("value", false));
  }

  Object eval(String expression) {
    return driver.executeScript("return " + expression);
  }

  /** All charts of the chosen level in one call, as each call is slow. */
  List<Plot> plots() {
    return ((List<?>) eval(PLOTS))
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
    driver.executeAsyncScript(
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
            driver.executeScript(
                "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)",
                selector))
        .stream().map(String.class::cast).toList();
  }

  void picture(Path file) throws IOException {
    File picture = driver.getScreenshotAs(OutputType.FILE);
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.copy(picture.toPath(), file, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Errors and warnings on the console since the last call. */
  List<String> complaints() {
    return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
        .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
        .map(LogEntry::getMessage)
        .toList();
  }

  /** URLs requested since the last call, except files, data and Chromium's own pages. */
  List<String> networkRequests() {
    return driver.manage().logs().get(LogType.PERFORMANCE).getAll().stream()
        .map(entry -> message(entry.getMessage()))
        .filter(message -> message.path("method").asText().equals("Network.requestWillBeSent"))
        .map(message -> message.at("/params/request/url").asText())
        .filter(url -> !url.matches("(file|data|chrome):.*"))
        .toList();
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
    driver.quit();
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
