package io.github.gatlingllm.action;

import io.gatling.commons.validation.Failure;
import io.gatling.commons.validation.Success;
import io.gatling.commons.validation.Validation;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.internal.Expressions;
import java.math.BigDecimal;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import scala.Function1;

/**
 * A value that may differ by virtual user: a constant, a Gatling EL String, or a function of the
 * session. It can be created without a running Gatling, so that the parts of a simulation can be
 * built in a unit test.
 */
public final class Dynamic<T> {

  private static final String PARSER_REASON = "with error '";

  private final Function<io.gatling.core.session.Session, Validation<T>> expression;
  private final @Nullable T constant;
  private final @Nullable ElText el;

  private Dynamic(
      Function<io.gatling.core.session.Session, Validation<T>> expression,
      @Nullable T constant,
      @Nullable ElText el) {
    this.expression = expression;
    this.constant = constant;
    this.el = el;
  }

  private record ElText(String text, Class<?> type) {}

  public static <T> Dynamic<T> of(T constant) {
    Validation<T> success = new Success<>(constant);
    return new Dynamic<>(session -> success, constant, null);
  }

  /** Computed by a function; a result of null, or an exception, is a failure. */
  public static <T> Dynamic<T> of(Function<Session, T> function) {
    return computed(
        session -> {
          try {
            T value = function.apply(new Session(session));
            return value == null
                ? Validations.failure("the function gave null; expected a value")
                : new Success<>(value);
          } catch (RuntimeException e) {
            return Validations.failure(e.getClass().getSimpleName() + ": " + e.getMessage());
          }
        },
        null);
  }

  private static <T> Dynamic<T> computed(
      Function<io.gatling.core.session.Session, Validation<T>> expression, @Nullable ElText el) {
    return new Dynamic<>(expression, null, el);
  }

  /**
   * A Gatling EL String, compiled on first use. For a number the attribute may be a number of any
   * class, or its text, as feeders and checks do not know the class that a request needs.
   */
  public static <T> Dynamic<T> el(String el, Class<T> type) {
    if (Number.class.isAssignableFrom(type)) {
      Dynamic<Object> number = el(el, Object.class);
      return computed(session -> number(el, number.resolve(session), type), new ElText(el, type));
    }
    return computed(
        new Function<>() {
          private volatile Function1<io.gatling.core.session.Session, Validation<T>> compiled;

          @Override
          public Validation<T> apply(io.gatling.core.session.Session session) {
            if (compiled == null) {
              compiled = Expressions.toExpression(el, type);
            }
            return compiled.apply(session);
          }
        },
        new ElText(el, type));
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

  /** A text: a Gatling EL String if it has an expression, else a constant. */
  public static Dynamic<String> text(@Nullable String el) {
    if (el == null) {
      throw InvalidSimulation.because(
          dslMethod()
              + "(null): expected a text or a Gatling EL String; is the environment variable or"
              + " property set that it comes from?");
    }
    return el.contains("#{") || el.contains("$") ? el(el, String.class) : of(el);
  }

  /**
   * The DSL method that the simulation called; builders delegate to their own {@code edit, with}.
   */
  private static String dslMethod() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .filter(f -> f.getClassName().contains(".gatlingllm.javaapi."))
                    .map(StackWalker.StackFrame::getMethodName)
                    .filter(name -> !name.startsWith("lambda$") && !name.matches("edit|with"))
                    .findFirst()
                    .orElse("text"));
  }

  public T resolve(io.gatling.core.session.Session session) {
    return Validations.value(expression.apply(session));
  }

  /** The constant; null for an EL String or a function. */
  @Nullable T constant() {
    return constant;
  }

  /** The text in the simulation, for messages; null for a function. */
  @Nullable String text() {
    return el == null ? constant == null ? null : constant.toString() : el.text;
  }

  /** What is wrong with the value for every session; null where nothing is known to be wrong. */
  @Nullable String mistake() {
    if (el == null) {
      return null;
    }
    try {
      var unused = Expressions.toExpression(el.text, Object.class);
      boolean isStatic = !el.text.contains("#{");
      return isStatic && !isConvertible(el.type) ? expected(el.type) : null;
    } catch (Exception e) { // Gatling's parser throws a checked one that Scala does not declare
      String message = String.valueOf(e.getMessage());
      int reason = message.lastIndexOf(PARSER_REASON);
      return "not a Gatling EL String: "
          + (reason < 0
              ? message
              : message.substring(reason + PARSER_REASON.length(), message.length() - 1));
    }
  }

  /** Whether a text without expressions is a value of that type, as Gatling converts it. */
  private boolean isConvertible(Class<?> type) {
    boolean isText = type == Object.class || type == String.class;
    boolean isParsed = type == Boolean.class || Number.class.isAssignableFrom(type);
    return isText || (isParsed && !(expression.apply(null) instanceof Failure));
  }

  private static String expected(Class<?> type) {
    String kind =
        type == Double.class
            ? "a number"
            : Number.class.isAssignableFrom(type)
                ? "a whole number"
                : type == Boolean.class ? "true or false" : "a " + type.getSimpleName();
    return "expected " + kind + ", or a Gatling EL String that gives one";
  }

  public static final class Unresolved extends RuntimeException {
    Unresolved(String message) {
      super(message, null, false, false);
    }
  }

  /**
   * Converts from and to Gatling's {@code Validation}, whose variance Java's type system does not
   * know.
   */
  static final class Validations {

    private Validations() {}

    @SuppressWarnings("unchecked") // Failure is a Validation of nothing, and so of everything
    static <T> Validation<T> failure(String message) {
      return (Validation<T>) (Object) new Failure(message);
    }

    @SuppressWarnings("unchecked") // a Validation that is no Failure is a Success of T
    static <T> T value(Validation<T> validation) {
      Object either = validation;
      if (either instanceof Failure failure) {
        throw new Dynamic.Unresolved(failure.message());
      }
      return ((Success<T>) either).value();
    }
  }

  /** Finds mistakes in the parameters of a builder that do not depend on the session. */
  public static final class ParameterCheck {

    private static final int LONGEST_SHOWN = 60;

    private final String builder;

    public ParameterCheck(String builder) {
      this.builder = builder;
    }

    static ParameterCheck ofRequest(Dynamic<String> name) {
      String text = name.text();
      ParameterCheck request =
          new ParameterCheck(text == null ? "llm(…)" : "llm(" + quoted(text) + ")");
      String mistake = name.mistake();
      if (mistake != null) {
        throw request.wrong("", mistake);
      }
      return request;
    }

    public ParameterCheck of(String method, @Nullable Dynamic<?> value) {
      String mistake = value == null ? null : value.mistake();
      if (mistake != null) {
        throw wrong("." + method + "(" + quoted(String.valueOf(value.text())) + ")", mistake);
      }
      return this;
    }

    /** As {@link #of}; the message does not show the value. */
    ParameterCheck secret(String method, @Nullable Dynamic<?> value) {
      String mistake = value == null ? null : value.mistake();
      if (mistake != null) {
        throw wrong("." + method + "(…)", mistake);
      }
      return this;
    }

    /** As {@link #of}; a constant must be 1 or more. */
    ParameterCheck atLeastOne(String method, @Nullable Dynamic<Integer> value) {
      Integer number = value == null ? null : value.constant();
      if (number != null && number < 1) {
        throw wrong("." + method + "(" + number + ")", "expected 1 or more");
      }
      return of(method, value);
    }

    InvalidSimulation wrong(String where, String what) {
      return InvalidSimulation.because(builder + where + ": " + what);
    }

    private static String quoted(String text) {
      String line = text.lines().findFirst().orElse("");
      boolean whole = line.equals(text) && line.length() <= LONGEST_SHOWN;
      return '"'
          + (whole ? line : line.substring(0, Math.min(line.length(), LONGEST_SHOWN)) + "…")
          + '"';
    }
  }
}
