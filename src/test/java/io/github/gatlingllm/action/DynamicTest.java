package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gatling.core.session.Session;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DynamicTest {

  private static final Session SESSION =
      Sessions.with(
          new HashMap<>(
              Map.of(
                  "text",
                  "blue",
                  "int",
                  7,
                  "long",
                  8L,
                  "double",
                  0.5,
                  "whole",
                  2.0,
                  "digits",
                  " 9 ",
                  "yes",
                  "true",
                  "huge",
                  5_000_000_000L)));

  static Stream<Arguments> values() {
    return Stream.of(
        Arguments.of(Dynamic.text("sky"), "sky"),
        Arguments.of(Dynamic.text("#{text} sky"), "blue sky"),
        Arguments.of(Dynamic.text("$1"), "$1"),
        Arguments.of(Dynamic.of(5), 5),
        Arguments.of(Dynamic.of(session -> session.getInt("int") + 1), 8),
        Arguments.of(Dynamic.el("#{int}", Integer.class), 7),
        Arguments.of(Dynamic.el("#{long}", Integer.class), 8),
        Arguments.of(Dynamic.el("#{whole}", Integer.class), 2),
        Arguments.of(Dynamic.el("#{digits}", Integer.class), 9),
        Arguments.of(Dynamic.el("#{int}", Long.class), 7L),
        Arguments.of(Dynamic.el("#{huge}", Long.class), 5_000_000_000L),
        Arguments.of(Dynamic.el("#{int}", Double.class), 7.0),
        Arguments.of(Dynamic.el("#{double}", Double.class), 0.5),
        Arguments.of(Dynamic.el("#{yes}", Boolean.class), true),
        Arguments.of(Dynamic.el("#{int}", Object.class), 7));
  }

  @ParameterizedTest
  @MethodSource("values")
  void isResolvedForASession(Dynamic<?> dynamic, Object value) {
    assertThat((Object) dynamic.resolve(SESSION)).isEqualTo(value);
  }

  static Stream<Arguments> failures() {
    return Stream.of(
        Arguments.of(Dynamic.text("#{nothing}"), "No attribute named 'nothing' is defined"),
        Arguments.of(
            Dynamic.el("#{nothing}", Integer.class), "No attribute named 'nothing' is defined"),
        Arguments.of(
            Dynamic.el("#{text}", Integer.class), "#{text} is 'blue', expected a whole number"),
        Arguments.of(
            Dynamic.el("#{double}", Integer.class), "#{double} is '0.5', expected a whole number"),
        Arguments.of(
            Dynamic.el("#{huge}", Integer.class),
            "#{huge} is '5000000000', expected a whole number"),
        Arguments.of(Dynamic.el("#{text}", Double.class), "#{text} is 'blue', expected a number"),
        Arguments.of(
            Dynamic.of(
                session -> {
                  throw new IllegalStateException("no luck");
                }),
            "IllegalStateException: no luck"),
        Arguments.of(
            Dynamic.of(session -> session.getString("nothing")),
            "the function gave null; expected a value"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void saysWhyItCannotBeResolved(Dynamic<?> dynamic, String message) {
    assertThatThrownBy(() -> dynamic.resolve(SESSION))
        .isInstanceOf(Dynamic.Unresolved.class)
        .hasMessage(message);
  }
}
