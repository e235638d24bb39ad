package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import java.lang.reflect.InvocationTargetException;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What ends a JVM is tested in {@code MistakesIT}. */
class InvalidSimulationFilterTest {

  private final InvalidSimulation mistake = InvalidSimulation.because("no model is named");

  @Test
  void lineIsTheMessageHowDeepItMayBe() {
    Throwable crash = new IllegalStateException(new InvocationTargetException(mistake));

    assertThat(InvalidSimulationFilter.line(crash)).isEqualTo("no model is named");
    assertThat(InvalidSimulationFilter.line(mistake)).isEqualTo("no model is named");
  }

  @Test
  void otherCrashesAreLeftToGatling() {
    assertThat(InvalidSimulationFilter.line(new IllegalArgumentException("x"))).isNull();
    assertThat(InvalidSimulationFilter.line(null)).isNull();
  }

  @Test
  void nothingIsInstalledWhereGatlingDoesNotStart() {
    LoggerContext log = (LoggerContext) LoggerFactory.getILoggerFactory();

    assertThat(log.getTurboFilterList()).noneMatch(InvalidSimulationFilter.class::isInstance);
  }
}
