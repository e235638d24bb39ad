package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The exit of the JVM is tested in {@code MistakesIT}. */
class InvalidSimulationTest {

  private final InvalidSimulation mistake = InvalidSimulation.because("no model is named");

  @Test
  void messageIsFoundAmongCauses() {
    Throwable crash = new IllegalStateException(new InvocationTargetException(mistake));

    assertThat(InvalidSimulation.line(crash)).isEqualTo("no model is named");
    assertThat(InvalidSimulation.line(mistake)).isEqualTo("no model is named");
  }

  @Test
  void otherCrashesAreLeftToGatling() {
    assertThat(InvalidSimulation.line(new IllegalArgumentException("x"))).isNull();
    assertThat(InvalidSimulation.line(null)).isNull();
  }

  @Test
  void unforeseenCauseIsOneShortLine() {
    Throwable crash =
        new InvocationTargetException(new IllegalStateException("a\nb" + "x".repeat(500)));

    assertThat(InvalidSimulation.unexpected(crash))
        .startsWith("LLM: failed at InvalidSimulationTest.java:")
        .contains("IllegalStateException: a bx")
        .hasSizeLessThanOrEqualTo(200)
        .doesNotContain("\n");
    assertThat(InvalidSimulation.unexpected(new Error(new OutOfMemoryError()))).contains("-Xmx");
    assertThat(InvalidSimulation.because("y".repeat(300))).message().hasSize(200);
  }

  @Test
  void linesOfServersKeepTheirAdvice() {
    List<String> servers = List.of("a failed:\n" + "y".repeat(300) + ". Do x", "b failed");

    assertThat(InvalidSimulation.failed(servers))
        .hasMessage("a failed: " + "y".repeat(300) + ". Do x\nb failed");
  }

  @Test
  void filterIsInstalledOnlyWhileGatlingStarts() {
    LoggerContext log = (LoggerContext) LoggerFactory.getILoggerFactory();

    assertThat(log.getTurboFilterList())
        .noneMatch(each -> each.getClass().getEnclosingClass() == InvalidSimulation.class);
  }
}
