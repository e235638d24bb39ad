package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class VersionsTest {

  @ParameterizedTest
  @CsvSource({"3.14.9,314", "3.15.1,315", "3.15.1-M1,315", "3.16,316", "4.0.0,400", "main,0", ",0"})
  void majorAndMinorCount(String version, int expected) {
    assertThat(Versions.minor(version)).isEqualTo(expected);
  }

  @Test
  void olderVersionIsRefusedInOneLine() {
    assertThatThrownBy(() -> Versions.requireGatling("3.13.5"))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessage(
            "gatling-llm works with Gatling 3.14 and 3.15 but this project has 3.13.5; raise the"
                + " version of gatling-charts-highcharts in the POM");
  }
}
