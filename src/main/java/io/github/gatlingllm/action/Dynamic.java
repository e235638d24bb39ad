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
 * A text, number or switch that may differ from virtual user to virtual user: a constant, a Gatling
 * EL String, or a function of the session. Creating one touches nothing of Gatling, so that a DSL
 * program can be built outside a run.
 */
public final class Dynamic<T> {

  /** What a message of Gatling's parser has before the reason. */
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

  /** A Gatling EL String, and what is wanted of it. */
  private record ElText(String text, Class<?> type) {}

  /** The same for every user. */
  public static <T> Dynamic<T> of(T constant) {
    Validation<T> success = new Success<>(constant);
    return new Dynamic<>(session -> success, constant, null);
  }

  /** Computed from the session; null is a failure. */
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
   * A Gatling EL String, compiled on first use. Where a number is wanted, an attribute may be any
   * number of that value, or its text: feeders and checks do not ask what a request needs.
   *
   * @param type what the attribute must be convertible to
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

  /** A Gatling EL String that gives text. */
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

  /**
   * The value for this session.
   *
   * @throws Unresolved when the EL or the function fails
   */
  public T resolve(io.gatling.core.session.Session session) {
    return Validations.value(expression.apply(session));
  }

  /** The value where it is the same for every user; null where it is computed. */
  @Nullable T constant() {
    return constant;
  }

  /** As it was written, for messages; null for a function. */
  @Nullable String text() {
    return el == null ? constant == null ? null : constant.toString() : el.text;
  }

  /** What is wrong with it for every session; null where nothing is, or only a session can tell. */
  @Nullable String mistake() {
    if (el == null) {
      return null;
    }
    try {
      var unused = Expressions.toExpression(el.text, Object.class);
      boolean isStatic = !el.text.contains("#{");
      return isStatic && !isConvertible(el.type) ? expected(el.type) : null;
    } catch (Exception e) { // Gatling's parser throws one that Scala does not declare
      String message = String.valueOf(e.getMessage());
      int reason = message.lastIndexOf(PARSER_REASON);
      return "not a Gatling EL String: "
          + (reason < 0
              ? message
              : message.substring(reason + PARSER_REASON.length(), message.length() - 1));
    }
  }

  /** Gatling converts text to what a text can say, and takes the rest as it is. */
  private boolean isConvertible(Class<?> type) {
    boolean isText = type == Object.class || type == String.class;
    boolean isSaid = type == Boolean.class || Number.class.isAssignableFrom(type);
    return isText || (isSaid && !(expression.apply(null) instanceof Failure));
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

  /** A value could not be computed for a session. */
  public static final class Unresolved extends RuntimeException {
    Unresolved(String message) {
      super(message, null, false, false);
    }
  }

  /**
   * Gatling's {@code Validation}, whose variance Java's type system does not see, used from Java.
   */
  static final class Validations {

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

  /**
   * Finds what is wrong with the parameters of a builder whatever the session, before anything is
   * sent.
   *
   * <pre>{@code
   * new ParameterCheck("llm(\"ask\")").of("maxTokens", maxTokens).of("model", model);
   * }</pre>
   */
  public static final class ParameterCheck {

    private static final int LONGEST_SHOWN = 60;

    private final String builder;

    /**
     * @param builder as it stands in the simulation
     */
    public ParameterCheck(String builder) {
      this.builder = builder;
    }

    /** That of a request; it starts with the name itself. */
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

    /**
     * Looks at one of them.
     *
     * @param method that takes it
     * @param value null where it is not set
     * @throws InvalidSimulation if no session can make it right
     */
    public ParameterCheck of(String method, @Nullable Dynamic<?> value) {
      String mistake = value == null ? null : value.mistake();
      if (mistake != null) {
        throw wrong("." + method + "(" + quoted(String.valueOf(value.text())) + ")", mistake);
      }
      return this;
    }

    /** As {@link #of}, without showing the value. */
    ParameterCheck secret(String method, @Nullable Dynamic<?> value) {
      String mistake = value == null ? null : value.mistake();
      if (mistake != null) {
        throw wrong("." + method + "(…)", mistake);
      }
      return this;
    }

    /** As {@link #of}; a number that is the same for every session must be 1 or more. */
    ParameterCheck atLeastOne(String method, @Nullable Dynamic<Integer> value) {
      Integer number = value == null ? null : value.constant();
      if (number != null && number < 1) {
        throw wrong("." + method + "(" + number + ")", "expected 1 or more");
      }
      return of(method, value);
    }

    /**
     * To be thrown.
     *
     * @param where the call behind the builder; empty for the builder itself
     */
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
