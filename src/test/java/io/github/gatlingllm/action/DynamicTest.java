package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gatling.core.session.Session;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DynamicTest {

  private static Session with(Object value) {
    return Sessions.with(Map.of("value", value));
  }

  /** A value of the session, a dynamic value of it, and what it is. */
  static Stream<Arguments> values() {
    return Stream.of(
        Arguments.of("blue", Dynamic.text("sky"), "sky"),
        Arguments.of("blue", Dynamic.text("#{value} sky"), "blue sky"),
        Arguments.of("blue", Dynamic.text("$1"), "$1"),
        Arguments.of(7, Dynamic.of(5), 5),
        Arguments.of(7, Dynamic.of(session -> session.getInt("value") + 1), 8),
        Arguments.of(7, el(Integer.class), 7),
        Arguments.of(8L, el(Integer.class), 8),
        Arguments.of(2.0, el(Integer.class), 2),
        Arguments.of(" 9 ", el(Integer.class), 9),
        Arguments.of(7, el(Long.class), 7L),
        Arguments.of(5_000_000_000L, el(Long.class), 5_000_000_000L),
        Arguments.of(7, el(Double.class), 7.0),
        Arguments.of(0.5, el(Double.class), 0.5),
        Arguments.of("true", el(Boolean.class), true),
        Arguments.of(7, el(Object.class), 7));
  }

  private static <T> Dynamic<T> el(Class<T> type) {
    return Dynamic.el("#{value}", type);
  }

  @ParameterizedTest
  @MethodSource("values")
  void isResolvedForASession(Object inSession, Dynamic<?> dynamic, Object value) {
    assertThat((Object) dynamic.resolve(with(inSession))).isEqualTo(value);
  }

  static Stream<Arguments> failures() {
    String undefined = "No attribute named 'nothing' is defined";
    String incomplete = "#{value} is '%s', expected an integer";
    return Stream.of(
        Arguments.of(1, Dynamic.text("#{nothing}"), undefined),
        Arguments.of(1, Dynamic.el("#{nothing}", Integer.class), undefined),
        Arguments.of("blue", el(Integer.class), incomplete.formatted("blue")),
        Arguments.of(0.5, el(Integer.class), incomplete.formatted("0.5")),
        Arguments.of(5_000_000_000L, el(Integer.class), incomplete.formatted("5000000000")),
        Arguments.of("blue", el(Double.class), "#{value} is 'blue', expected a number"),
        Arguments.of(
            1,
            Dynamic.of(
                session -> {
                  throw new IllegalStateException("no luck");
                }),
            "IllegalStateException: no luck"),
        Arguments.of(
            1,
            Dynamic.of(session -> session.getString("nothing")),
            "the function gave null; expected a value"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void statesWhyItCannotBeResolved(Object inSession, Dynamic<?> dynamic, String message) {
    assertThatThrownBy(() -> dynamic.resolve(with(inSession)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }
}
