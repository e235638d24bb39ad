package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.record.Assertion;
import org.jspecify.annotations.Nullable;

/** Which figure of which requests an assertion is about; not yet what it must be. */
record AssertionFigure(Assertion.Scope scope, @Nullable String name, String figure) {

  AssertionFigure and(String part) {
    return new AssertionFigure(scope, name, figure.isEmpty() ? part : figure + "." + part);
  }

  AssertionCondition number() {
    return new AssertionCondition(this);
  }
}
