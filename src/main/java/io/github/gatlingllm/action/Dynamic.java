package io.github.gatlingllm.action;

import io.gatling.commons.validation.Success;
import io.gatling.commons.validation.Validation;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.internal.Expressions;
import java.math.BigDecimal;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import scala.Function1;

/**
 * A text, number or switch that may differ from virtual user to virtual user: a constant, a Gatling
 * EL String, or a function of the session. Creating one touches nothing of Gatling, so that a DSL
 * program can be built outside a run.
 */
public final class Dynamic<T> {

  private final Function<io.gatling.core.session.Session, Validation<T>> expression;
  private final @Nullable T constant;

  private Dynamic(Function<io.gatling.core.session.Session, Validation<T>> expression) {
    this(expression, null);
  }

  private Dynamic(
      Function<io.gatling.core.session.Session, Validation<T>> expression, @Nullable T constant) {
    this.expression = expression;
    this.constant = constant;
  }

  /** The same for every user. */
  public static <T> Dynamic<T> of(T constant) {
    Validation<T> success = new Success<>(constant);
    return new Dynamic<>(session -> success, constant);
  }

  /** Computed from the session; null is a failure. */
  public static <T> Dynamic<T> of(Function<Session, T> function) {
    return new Dynamic<>(
        session -> {
          try {
            T value = function.apply(new Session(session));
            return value == null
                ? Validations.failure("the function gave null; expected a value")
                : new Success<>(value);
          } catch (RuntimeException e) {
            return Validations.failure(e.getClass().getSimpleName() + ": " + e.getMessage());
          }
        });
  }

  /**
   * A Gatling EL String, compiled on first use. Where a number is wanted, an attribute may be any
   * number of that value, or its text: feeders and checks do not ask what a request needs.
   *
   * @param type what the attribute must be convertible to
   */
  public static <T> Dynamic<T> el(String el, Class<T> type) {
    if (Number.class.isAssignableFrom(type)) {
      Dynamic<Object> number = el(el, Object.class);
      return new Dynamic<>(session -> number(el, number.resolve(session), type));
    }
    return new Dynamic<>(
        new Function<>() {
          private volatile Function1<io.gatling.core.session.Session, Validation<T>> compiled;

          @Override
          public Validation<T> apply(io.gatling.core.session.Session session) {
            if (compiled == null) {
              compiled = Expressions.toExpression(el, type);
            }
            return compiled.apply(session);
          }
        });
  }

  private static <T> Validation<T> number(String el, Object value, Class<T> type) {
    try {
      BigDecimal number = new BigDecimal(value.toString().strip());
      Number exact =
          type == Integer.class
              ? (Number) number.intValueExact()
              : type == Long.class ? (Number) number.longValueExact() : number.doubleValue();
      return new Success<>(type.cast(exact));
    } catch (ArithmeticException | NumberFormatException e) {
      return Validations.failure(
          el
              + " is '"
              + value
              + "', expected "
              + (type == Double.class ? "a" : "a whole")
              + " number");
    }
  }

  /** A Gatling EL String that gives text. */
  public static Dynamic<String> text(String el) {
    return el.contains("#{") || el.contains("$") ? el(el, String.class) : of(el);
  }

  /** The value, where it is the same for every user; else null. */
  @Nullable T constant() {
    return constant;
  }

  /**
   * The value for this session.
   *
   * @throws Unresolved when the EL or the function fails
   */
  public T resolve(io.gatling.core.session.Session session) {
    return Validations.value(expression.apply(session));
  }

  /** A value could not be computed for a session. */
  public static final class Unresolved extends RuntimeException {
    Unresolved(String message) {
      super(message, null, false, false);
    }
  }
}
