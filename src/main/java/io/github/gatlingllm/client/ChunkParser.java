package io.github.gatlingllm.client;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Parses the data of one event, or a whole body that was not streamed, and passes deltas, usage and
 * errors to a listener. An event that differs from the last one only in its text is compared
 * instead of parsed ({@link Template}), without garbage; Jackson parses the others ({@link
 * ChunkReader}, {@link EventReader}).
 *
 * <p>Accepts fields in any order, numbers in quotes and unknown fields of any depth, as servers
 * differ. Not thread safe; one per response.
 */
final class ChunkParser implements SseDecoder.Listener {

  /** Longest data that is checked for {@code [DONE]}, with white space around it. */
  private static final int MAX_DONE_BYTES = 64;

  private final Listener listener;
  private final DocumentReader reader;
  private final boolean hasTypes;
  private final Template template;

  /** The kind of a piece of generated text. All kinds carry tokens; only one is reasoning. */
  enum Channel {
    /** The answer: {@code delta.content}, {@code text}, {@code message.content}. */
    CONTENT,
    /** Reasoning before the answer: {@code reasoning} or {@code reasoning_content}. */
    REASONING,
    /** Why the model does not answer: {@code refusal}. */
    REFUSAL,
    /** {@code tool_calls[].function.name}. */
    TOOL_NAME,
    /** A piece of {@code tool_calls[].function.arguments}. */
    TOOL_ARGUMENTS;

    boolean isToolCall() {
      return this == TOOL_NAME || this == TOOL_ARGUMENTS;
    }
  }

  /**
   * Receives the content of events. Each event, or whole body, ends with exactly one call of {@link
   * #eventEnd()}, after any number of the other calls. Called on the thread that feeds the parser,
   * which gets any exception.
   */
  interface Listener {

    /**
     * A piece of generated text, never empty.
     *
     * @param choice {@code index} of the choice; 0 where the server sends none
     * @param buffer contains the text as it was sent, in UTF-8 with JSON escapes, without quotes;
     *     valid during the call only (use a {@link TextBuffer} to keep it)
     */
    void delta(int choice, Channel channel, byte[] buffer, int offset, int length);

    /**
     * The tool call of the next {@link #delta}; called before each delta of {@link
     * Channel#TOOL_NAME} or {@link Channel#TOOL_ARGUMENTS}.
     *
     * @param call {@code index} of the call; its position where the server sends none
     * @param id empty where this event has none
     */
    void toolCall(int choice, int call, String id);

    /**
     * A choice is finished; called after its last delta of the same event.
     *
     * @param reason interned; never empty
     */
    void finish(int choice, String reason);

    /**
     * A usage object, at any place where servers send one; also an object of zeros, and one per
     * chunk with continuous usage. A count is −1 where absent, and {@link Integer#MAX_VALUE} where
     * it is larger, or below −1.
     */
    void usage(int promptTokens, int completionTokens, int cachedTokens, int reasoningTokens);

    /**
     * A timing or count the server reports about this request.
     *
     * @param name path in the body: {@code usage.…} of Groq, {@code timings.…} of llama.cpp, {@code
     *     metrics.…} of vLLM
     * @param value in the server's unit, 0 or more
     */
    void server(String name, double value);

    /** The server reports an error instead of or after an answer; the message is one line. */
    void error(String message);

    /** {@code [DONE]}, or the terminal event of a stream of typed events. */
    void done();

    /** Number of embeddings in the body. */
    default void embeddings(int count) {}

    /**
     * The data is not a JSON object. Anything found before the error has been reported.
     *
     * @param why constant per cause
     */
    void malformed(String why);

    /** The event has ended. */
    void eventEnd();
  }

  /**
   * Collects the pieces of a text from {@link ChunkParser.Listener#delta}: bytes are copied at
   * once, JSON escapes are resolved at the end. A character may be split over two pieces, within
   * its surrogate escapes or its UTF-8 bytes; an invalid character becomes U+FFFD. Not thread safe.
   */
  static final class TextBuffer {

    /** Longest text: 16 MiB. */
    static final int MAX_BYTES = 16 * 1024 * 1024;

    private static final int HEX_DIGITS = 4;

    private final GrowingBytes escaped;

    TextBuffer(AnswerMemory memory) {
      escaped = new GrowingBytes("text of an answer", MAX_BYTES, memory);
    }

    /**
     * Adds a piece: the content of a JSON string, escapes not resolved.
     *
     * @throws AnswerMemory.TooLarge beyond {@link #MAX_BYTES}
     */
    void append(byte[] piece, int offset, int length) {
      escaped.append(piece, offset, offset + length);
    }

    boolean isEmpty() {
      return escaped.isEmpty();
    }

    /** Number of bytes added, with unresolved escapes. */
    int bytes() {
      return escaped.length();
    }

    /** The text so far. */
    String text() {
      return unescape(escaped.array(), 0, escaped.length());
    }

    /** Resolves the escapes of a JSON string; an invalid escape loses its backslash. */
    static String unescape(byte[] json, int from, int to) {
      String text = new String(json, from, to - from, StandardCharsets.UTF_8);
      if (text.indexOf('\\') < 0) {
        return text;
      }
      StringBuilder plain = new StringBuilder(text.length());
      boolean surrogates = false;
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        if (c != '\\' || i + 1 == text.length()) {
          plain.append(c);
          continue;
        }
        char escape = text.charAt(++i);
        int unit = escape == 'u' ? hex(text, i + 1) : -1;
        if (unit < 0) {
          plain.append(simple(escape));
        } else {
          plain.append((char) unit);
          surrogates |= Character.isSurrogate((char) unit);
          i += HEX_DIGITS;
        }
      }
      return surrogates ? withoutLoneSurrogates(plain) : plain.toString();
    }

    private static String withoutLoneSurrogates(CharSequence text) {
      StringBuilder whole = new StringBuilder(text.length());
      text.codePoints()
          .map(point -> point <= 0xFFFF && Character.isSurrogate((char) point) ? 0xFFFD : point)
          .forEach(whole::appendCodePoint);
      return whole.toString();
    }

    private static char simple(char escape) {
      return switch (escape) {
        case 'b' -> '\b';
        case 'f' -> '\f';
        case 'n' -> '\n';
        case 'r' -> '\r';
        case 't' -> '\t';
        default -> escape;
      };
    }

    /** Value of the four hexadecimal digits at {@code from}; −1 where there are none. */
    private static int hex(String text, int from) {
      int value = 0;
      for (int i = from; i < from + HEX_DIGITS; i++) {
        int digit = i < text.length() ? Character.digit(text.charAt(i), 16) : -1;
        if (digit < 0) {
          return -1;
        }
        value = (value << 4) | digit;
      }
      return value;
    }
  }

  /** A parser of the responses of an API. */
  ChunkParser(Api api, Listener listener) {
    this.listener = listener;
    this.hasTypes = api.terminalEvent() != null;
    this.reader = hasTypes ? new EventReader(listener) : new ChunkReader(listener);
    this.template = hasTypes ? new Template() : Template.ofLatestAnswer();
  }

  /**
   * Parses the data of one event. Empty data is ignored, unless the type is {@code error}.
   *
   * @param type type of the event; only {@code error} is used, as typed events repeat it in the
   *     data
   */
  @Override
  public void event(@Nullable String type, byte[] bytes, int offset, int length) {
    if ("error".equals(type)) {
      listener.error(
          isBlank(bytes, offset, length)
              ? "error event without a message"
              : ErrorBody.reported(bytes, offset, length));
    } else if (template.matches(bytes, offset, offset + length)) {
      Template.Meaning meaning = template.meaning();
      if (meaning.channel().isToolCall()) {
        listener.toolCall(meaning.choice(), meaning.call(), "");
      }
      listener.delta(
          meaning.choice(), meaning.channel(), bytes, template.textFrom(), template.textLength());
      if (meaning.hasUsage()) {
        listener.usage(template.count(0), template.count(1), template.count(2), template.count(3));
      }
    } else if (!isBlank(bytes, offset, length)) {
      parse(bytes, offset, length);
    }
    listener.eventEnd();
  }

  /** Parses a whole JSON body: a completion or an error object. */
  void body(byte[] bytes, int offset, int length) {
    parse(bytes, offset, length);
    listener.eventEnd();
  }

  private void parse(byte[] bytes, int offset, int length) {
    if (isDone(bytes, offset, length)) {
      if (!hasTypes) {
        listener.done();
      }
      return;
    }
    try {
      boolean errorField = reader.read(bytes, offset, offset + length);
      if (errorField && ErrorBody.isError(bytes, offset, length)) {
        listener.error(ErrorBody.reported(bytes, offset, length));
      } else {
        reader.teach(template);
      }
    } catch (DocumentReader.Malformed malformed) {
      listener.malformed(malformed.getMessage());
    }
  }

  /** Whether the data is {@code [DONE]}, the end of a stream without typed events. */
  static boolean isDone(byte[] bytes, int offset, int length) {
    return length <= MAX_DONE_BYTES
        && new String(bytes, offset, length, StandardCharsets.ISO_8859_1).strip().equals("[DONE]");
  }

  private static boolean isBlank(byte[] bytes, int offset, int length) {
    for (int i = offset; i < offset + length; i++) {
      byte b = bytes[i];
      if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
        return false;
      }
    }
    return true;
  }
}
