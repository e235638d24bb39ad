package io.github.gatlingllm.wire;

/** Data that is not JSON. Has no stack trace: it only leaves a parse. */
final class MalformedJson extends RuntimeException {

  private final String why;

  private MalformedJson(String why) {
    super(why, null, false, false);
    this.why = why;
  }

  static MalformedJson notAnObject() {
    return new MalformedJson("data is not a JSON object");
  }

  static MalformedJson cut() {
    return new MalformedJson("JSON ends too early");
  }

  static MalformedJson unexpected() {
    return new MalformedJson("JSON has an unexpected character");
  }

  static MalformedJson trailing() {
    return new MalformedJson("JSON is followed by something else");
  }

  /** The cause, constant per kind. */
  String why() {
    return why;
  }
}
