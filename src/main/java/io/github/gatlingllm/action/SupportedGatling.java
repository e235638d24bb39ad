package io.github.gatlingllm.action;

import io.gatling.core.actor.ActorSystem;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import java.util.concurrent.Executor;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import scala.concurrent.ExecutionContext;

/**
 * The versions of Gatling that this library works with. It is built upon parts of Gatling that are
 * no public API, and the project that uses it chooses the version: an unsuitable one should be one
 * clear line instead of a missing class or method.
 */
final class SupportedGatling {

  /** Gatling 3.13 and older use Netty 4.1, whose event loops are others. */
  private static final int OLDEST = 314;

  private static final int NEWEST = 315;
  private static final String RANGE = "3.14 and 3.15";

  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)(\\.|$).*");

  private SupportedGatling() {}

  /**
   * Looks at the Gatling on the class path; says on the console if it is newer than those that were
   * tested.
   *
   * @throws InvalidSimulation if it is too old
   */
  static void require() {
    require(found());
  }

  static void require(@Nullable String found) {
    int minor = minor(found);
    if (minor != 0 && minor < OLDEST) {
      throw InvalidSimulation.because(
          "gatling-llm works with Gatling "
              + RANGE
              + " but this project has "
              + found
              + "; raise the version of gatling-charts-highcharts in the POM");
    }
    if (minor > NEWEST) {
      System.out.println(
          "gatling-llm is tested with Gatling " + RANGE + " and this project has " + found);
    }
  }

  /** Major and minor version as one number, 3.14.9 as 314; 0 where it is none. */
  static int minor(@Nullable String version) {
    Matcher matcher = VERSION.matcher(version == null ? "" : version);
    return matcher.matches()
        ? 100 * Integer.parseInt(matcher.group(1)) + Integer.parseInt(matcher.group(2))
        : 0;
  }

  /** The threads of Gatling's actors; the method that gives them has another type in 3.14. */
  static Executor threadsOf(ActorSystem actors) {
    try {
      Object context = ActorSystem.class.getMethod("executionContext").invoke(actors);
      return ((ExecutionContext) context)::execute;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Gatling's actors have no threads that are known", e);
    }
  }

  private static @Nullable String found() {
    try (InputStream file =
        SupportedGatling.class.getResourceAsStream("/gatling-version.properties")) {
      Properties properties = new Properties();
      if (file != null) {
        properties.load(file);
      }
      return properties.getProperty("version");
    } catch (IOException e) {
      return null;
    }
  }
}
