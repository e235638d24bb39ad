package io.github.gatlingllm.client;

import io.github.gatlingllm.wire.Api;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads the meaning of one event's data, or of a whole body that was not streamed, and pushes what
 * it finds. Data that repeats the last event but for its text is compared instead of parsed ({@link
 * Template}), without garbage; Jackson reads the others ({@link ChunkReader}, {@link EventReader}).
 *
 * <p>Tolerant where servers differ: fields in any order, numbers in quotes, unknown fields of any
 * depth. Not thread safe; one per response.
 */
final class ChunkParser implements SseDecoder.Listener {

  /** White space around it is allowed; more than this many bytes of data are something else. */
  private static final int LONGEST_DONE = 64;

  private final Listener listener;
  private final DocumentReader reader;
  private final boolean hasTypes;
  private final Template template;

  /**
   * What a piece of generated text is: every channel bears tokens, only one of them is reasoning.
   */
  public enum Channel {
    /** The answer: {@code delta.content}, {@code text}, {@code message.content}. */
    CONTENT,
    /** Thinking before the answer: {@code reasoning} or {@code reasoning_content}. */
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
   * What the parser finds. For one event, or one whole body, any number of the other calls come
   * first, then exactly one {@link #eventEnd()}. Called on the thread that feeds the parser; an
   * exception goes through to it.
   */
  public interface Listener {

    /**
     * A piece of token-bearing text, never empty.
     *
     * @param choice the choice's {@code index}; 0 where the server sends none
     * @param buffer holds the text as it was sent: UTF-8, JSON escapes not resolved, without
     *     quotes; valid during the call only (a {@link TextBuffer} keeps it)
     */
    void delta(int choice, Channel channel, byte[] buffer, int offset, int length);

    /**
     * Which tool call the next {@link #delta} belongs to; comes before each one of {@link
     * Channel#TOOL_NAME} or {@link Channel#TOOL_ARGUMENTS}.
     *
     * @param call its {@code index}; its position where the server sends none
     * @param id empty where this event does not say it anew
     */
    void toolCall(int choice, int call, String id);

    /**
     * A choice is finished; comes after its last delta of the same event.
     *
     * @param reason interned; never empty
     */
    void finish(int choice, String reason);

    /**
     * A usage object, wherever it was found; also one of zeros, and one per chunk where the server
     * sends that. Each count is −1 where absent, and the largest integer where it is larger, or
     * below −1.
     */
    void usage(int promptTokens, int completionTokens, int cachedTokens, int reasoningTokens);

    /**
     * A timing or count the server reports about this request.
     *
     * @param name its path: {@code usage.…} of Groq, {@code timings.…} of llama.cpp, {@code
     *     metrics.…} of vLLM
     * @param value as it is said, 0 or more
     */
    void server(String name, double value);

    /** The server reports an error in place of, or after, an answer: its message in one line. */
    void error(String message);

    /** {@code [DONE]}, or the event that ends a stream of typed events. */
    void done();

    /** So many embeddings are in the body. */
    default void embeddings(int count) {}

    /**
     * Data that is not a JSON object. What was found before the fault has been reported.
     *
     * @param why constant per cause
     */
    void malformed(String why);

    /** Nothing more comes of this event. */
    void eventEnd();
  }

  /**
   * Collects the pieces of a text as {@link ChunkParser.Listener#delta} gives them: bytes are
   * copied now, JSON escapes resolved once at the end. A character whose surrogate escapes, or
   * whose UTF-8 bytes, came in two pieces is whole again; what is no character becomes U+FFFD. Not
   * thread safe.
   */
  public static final class TextBuffer {

    /** The longest text: 16 MiB. */
    public static final int MAX_BYTES = 16 * 1024 * 1024;

    private static final int HEX_DIGITS = 4;

    private final GrowingBytes escaped;

    public TextBuffer(AnswerMemory memory) {
      escaped = new GrowingBytes("text of an answer", MAX_BYTES, memory);
    }

    /**
     * Adds a piece: the content of a JSON string, escapes not resolved.
     *
     * @throws AnswerMemory.TooLarge beyond {@link #MAX_BYTES}
     */
    public void append(byte[] piece, int offset, int length) {
      escaped.append(piece, offset, offset + length);
    }

    public boolean isEmpty() {
      return escaped.isEmpty();
    }

    /** How many bytes were added, escapes not resolved. */
    public int bytes() {
      return escaped.length();
    }

    /** The text so far. */
    public String text() {
      return unescape(escaped.array(), 0, escaped.length());
    }

    /** The text whose JSON string content this is; escapes that are none lose their backslash. */
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

    /** The four hexadecimal digits at {@code from}; −1 when there are none. */
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

  /** Of chat and text completions. */
  public ChunkParser(Listener listener) {
    this(Api.CHAT, listener);
  }

  /** Of that API. */
  public ChunkParser(Api api, Listener listener) {
    this.listener = listener;
    this.hasTypes = api.terminalEvent() != null;
    this.reader = hasTypes ? new EventReader(listener) : new ChunkReader(listener);
    this.template = hasTypes ? new Template() : Template.likeTheLatest();
  }

  /**
   * Reads the data of one event. Empty data means nothing, unless the type is {@code error}.
   *
   * @param type the event's type; only {@code error} makes a difference: typed events say theirs in
   *     their data too
   */
  @Override
  public void event(@Nullable String type, byte[] bytes, int offset, int length) {
    if ("error".equals(type)) {
      listener.error(
          isBlank(bytes, offset, length)
              ? "error event without a message"
              : ErrorBody.reported(bytes, offset, length));
    } else if (template.fits(bytes, offset, offset + length)) {
      Template.Meaning same = template.meaning();
      if (same.channel().isToolCall()) {
        listener.toolCall(same.choice(), same.call(), "");
      }
      listener.delta(
          same.choice(), same.channel(), bytes, template.textFrom(), template.textLength());
      if (same.hasUsage()) {
        listener.usage(template.count(0), template.count(1), template.count(2), template.count(3));
      }
    } else if (!isBlank(bytes, offset, length)) {
      parse(bytes, offset, length);
    }
    listener.eventEnd();
  }

  /** Reads a whole JSON body: a completion, or an error object. */
  public void body(byte[] bytes, int offset, int length) {
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

  /** Whether the data announces the end of a stream that has no typed events. */
  public static boolean isDone(byte[] bytes, int offset, int length) {
    return length <= LONGEST_DONE
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
