package io.github.gatlingllm.action;

import io.gatling.commons.validation.Failure;
import io.gatling.commons.validation.Success;
import io.gatling.commons.validation.Validation;

/** Gatling's {@code Validation}, whose variance Java's type system does not see, used from Java. */
final class Validations {

  private Validations() {}

  @SuppressWarnings("unchecked") // Failure is a Validation of nothing, and so of everything
  static <T> Validation<T> failure(String message) {
    return (Validation<T>) (Object) new Failure(message);
  }

  /**
   * The value of a success.
   *
   * @throws Dynamic.Unresolved with the message of a failure
   */
  @SuppressWarnings("unchecked") // a Validation that is no Failure is a Success of T
  static <T> T value(Validation<T> validation) {
    Object either = validation;
    if (either instanceof Failure failure) {
      throw new Dynamic.Unresolved(failure.message());
    }
    return ((Success<T>) either).value();
  }
}
