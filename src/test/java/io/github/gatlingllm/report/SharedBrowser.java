package io.github.gatlingllm.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** One {@link Browser} for all test classes of a JVM that ask for one. */
final class SharedBrowser implements ParameterResolver {

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
        .getStore(Namespace.create(SharedBrowser.class))
        .getOrComputeIfAbsent("browser", key -> Opened.open(), Opened.class)
        .browser();
  }
}
