package io.github.gatlingllm.action;

import io.gatling.core.actor.ActorSystem;
import io.github.gatlingllm.record.PrintableText;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.Executor;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import scala.concurrent.ExecutionContext;

/** The versions of this library and its surroundings; an unsupported Gatling is one line. */
final class Versions {

  /** Gatling 3.13 and older use Netty 4.1, whose event loops have other classes. */
  private static final int MIN_GATLING = 314;

  private static final int MAX_GATLING = 315;
  private static final String RANGE = "3.14 and 3.15";

  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)(\\.|$).*");

  private Versions() {}

  static void requireGatling() {
    requireGatling(gatling());
  }

  static void requireGatling(@Nullable String version) {
    int minor = minor(version);
    if (minor != 0 && minor < MIN_GATLING) {
      throw InvalidSimulation.because(
          ("gatling-llm works with Gatling %s but this project has %s; raise the version of "
                  + "gatling-charts-highcharts in the POM")
              .formatted(RANGE, version));
    }
    if (minor > MAX_GATLING) {
      PrintableText.print(
          "gatling-llm is tested with Gatling " + RANGE + " and this project has " + version);
    }
  }

  /** Major and minor version as one number, such as 314 for 3.14.9; 0 where there is none. */
  static int minor(@Nullable String version) {
    Matcher matcher = VERSION.matcher(version == null ? "" : version);
    return matcher.matches()
        ? 100 * Integer.parseInt(matcher.group(1)) + Integer.parseInt(matcher.group(2))
        : 0;
  }

  /** The threads of Gatling's actors, by reflection: the method returns another type in 3.14. */
  static Executor threadsOf(ActorSystem actors) {
    try {
      Object context = ActorSystem.class.getMethod("executionContext").invoke(actors);
      return ((ExecutionContext) context)::execute;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Gatling's actors have no threads that are known", e);
    }
  }

  static Map<String, String> all() {
    Map<String, String> versions = new LinkedHashMap<>();
    versions.put("gatling-llm", library());
    versions.put("gatling", Objects.requireNonNullElse(gatling(), "unknown"));
    versions.put("java", Runtime.version().toString());
    versions.put("os", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
    return versions;
  }

  /** The version of this library; {@code dev} for classes that Maven has not built. */
  private static String library() {
    try (InputStream in = Versions.class.getResourceAsStream("version.txt")) {
      return in == null ? "dev" : new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "dev";
    }
  }

  static @Nullable String gatling() {
    try (InputStream file = Versions.class.getResourceAsStream("/gatling-version.properties")) {
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
