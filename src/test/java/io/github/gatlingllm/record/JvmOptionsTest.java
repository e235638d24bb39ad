package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.SelfTest.JvmOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a run's JVM should have, and what it has. */
class JvmOptionsTest {

  @Test
  void recommendedOptionsLackNothing() {
    assertThat(JvmOptions.missing(JvmOptions.RECOMMENDED)).isEmpty();
  }

  @Test
  void largerSizesSuffice() {
    List<String> larger =
        JvmOptions.RECOMMENDED.stream()
            .map(option -> option.replace("1g", "4096m").replace("512m", "2g"))
            .toList();

    assertThat(JvmOptions.missing(larger)).isEmpty();
  }

  @Test
  void defaultsOfGatlingsPluginLackOptions() {
    assertThat(
            JvmOptions.missing(
                List.of(
                    "-XX:TieredStopAtLevel=4",
                    "-XX:+UseG1GC",
                    "-Xms384m",
                    "-Xmx1024m",
                    "-Xmn1m",
                    "-XX:MetaspaceSize=21m")))
        .containsExactly(
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xms1g",
            "-Xmn512m",
            "-XX:MetaspaceSize=256m");
  }

  @Test
  void optionsOfThisJvmAreReported() {
    List<String> options = JvmOptions.inEffect();

    assertThat(options).anyMatch(option -> option.matches("-XX:TieredStopAtLevel=[0-4]"));
    assertThat(options).filteredOn(option -> option.matches("-XX:\\+Use\\w+GC")).hasSize(1);
    for (String size : List.of("-Xms", "-Xmx", "-Xmn")) {
      assertThat(options).filteredOn(option -> option.matches(size + "\\d+m")).hasSize(1);
    }
  }

  /** The one place where a build of this project takes them from, and what README says. */
  @Test
  void pomAndReadmeHaveTheRecommendedOptions() throws Exception {
    String property =
        "<gatling.jvmArgs>" + String.join(",", JvmOptions.RECOMMENDED) + "</gatling.jvmArgs>";

    assertThat(Files.readString(Path.of("pom.xml"))).contains(property);
    assertThat(Files.readString(Path.of("README.md"))).contains(property);
  }
}
