package io.github.gatlingllm.wire;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads the meaning of one event's data, or of a whole body that was not streamed, and pushes what
 * it finds. Builds no tree and no garbage per token; data that repeats the last chunk but for its
 * text is compared instead of parsed ({@link Template}).
 *
 * <p>Tolerant where servers differ: fields in any order, numbers in quotes, unknown fields of any
 * depth. Not thread safe; one per response.
 */
public final class ChunkParser implements SseDecoder.Listener {

  private static final byte[] DONE = JsonScanner.key("[DONE]");

  private static final byte[] CHOICES = JsonScanner.key("choices");
  private static final byte[] USAGE = JsonScanner.key("usage");
  private static final byte[] X_GROQ = JsonScanner.key("x_groq");
  private static final byte[] TIMINGS = JsonScanner.key("timings");
  private static final byte[] ERROR = JsonScanner.key("error");
  private static final byte[] DETAIL = JsonScanner.key("detail");
  private static final byte[] MESSAGE = JsonScanner.key("message");

  private final ChunkListener listener;
  private final UsageReader usage;
  private final ChoiceReader choice;
  private final JsonScanner json = new JsonScanner();
  private final Template template = new Template();

  public ChunkParser(ChunkListener listener) {
    this.listener = listener;
    this.usage = new UsageReader(json, listener);
    this.choice = new ChoiceReader(json, listener, usage);
  }

  /**
   * Reads the data of one event. Empty data means nothing, unless the type is {@code error}.
   *
   * @param type the event's type; only {@code error} makes a difference
   */
  @Override
  public void event(@Nullable String type, byte[] bytes, int offset, int length) {
    int to = offset + length;
    boolean error = "error".equals(type);
    if (!error && template.fits(bytes, offset, to)) {
      listener.delta(
          template.choice(),
          template.channel(),
          bytes,
          offset + template.prefix(),
          length - template.prefix() - template.suffix());
    } else {
      json.reset(bytes, offset, to);
      if (error) {
        listener.error(
            json.atEnd()
                ? "error event without a message"
                : ServerMessage.in(bytes, offset, length));
      } else if (!json.atEnd()) {
        parse(bytes, offset, to);
      }
    }
    listener.eventEnd();
  }

  /** Reads a whole JSON body: a completion, or an error object. */
  public void body(byte[] bytes, int offset, int length) {
    json.reset(bytes, offset, offset + length);
    parse(bytes, offset, offset + length);
    listener.eventEnd();
  }

  private void parse(byte[] bytes, int from, int to) {
    if (isDone(bytes, json.position(), to)) {
      listener.done();
      return;
    }
    usage.begin();
    choice.begin(bytes);
    try {
      if (reportsError()) {
        listener.error(ServerMessage.in(bytes, from, to - from));
      } else if (choice.foundOneDelta() && !usage.found()) {
        choice.teach(template, from, to);
      }
    } catch (MalformedJson malformed) {
      listener.malformed(malformed.why());
    }
  }

  private boolean isDone(byte[] bytes, int from, int to) {
    int end = from + DONE.length;
    if (end > to || !Arrays.equals(bytes, from, end, DONE, 0, DONE.length)) {
      return false;
    }
    json.moveTo(end);
    return json.atEnd();
  }

  /** Reads the document; whether it reports an error. */
  private boolean reportsError() {
    if (!json.atObject()) {
      throw MalformedJson.notAnObject();
    }
    boolean choices = false;
    boolean error = false;
    boolean message = false;
    json.enterObject();
    while (json.nextKey()) {
      if (json.keyIs(CHOICES)) {
        choices = true;
        choice.choices();
      } else if (json.keyIs(USAGE)) {
        usage.usage();
      } else if (json.keyIs(TIMINGS)) {
        usage.timings();
      } else if (json.keyIs(X_GROQ)) {
        error |= groq();
      } else if (json.keyIs(ERROR)) {
        error |= isSaid();
      } else if (json.keyIs(MESSAGE) || json.keyIs(DETAIL)) {
        boolean object = json.atObject();
        message |= isSaid() && !object;
      } else {
        json.skip();
      }
    }
    json.expectEnd();
    return error || (message && !choices);
  }

  /** Skips a value; whether it says something: text, an object or an array that is not empty. */
  private boolean isSaid() {
    if (json.atString()) {
      json.string();
      return json.textFrom() < json.textTo();
    }
    int position = json.position();
    boolean said = false;
    if (json.atObject()) {
      json.enterObject();
      said = json.nextKey();
    } else if (json.atArray()) {
      json.enterArray();
      said = json.nextElement();
    }
    json.moveTo(position);
    json.skip();
    return said;
  }

  private boolean groq() {
    boolean error = false;
    if (!json.atObject()) {
      json.skip();
      return false;
    }
    json.enterObject();
    while (json.nextKey()) {
      if (json.keyIs(USAGE)) {
        usage.usage();
      } else if (json.keyIs(ERROR)) {
        error |= isSaid();
      } else {
        json.skip();
      }
    }
    return error;
  }
}
