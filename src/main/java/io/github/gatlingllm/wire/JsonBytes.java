package io.github.gatlingllm.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A tree of JSON as bytes of UTF-8, the same as Jackson writes, but without the text between: half
 * of what a request takes is its prompt, which is encoded once and looked through once.
 */
final class JsonBytes {

  private static final byte[] HEX = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);

  /** The longest escape of one byte. */
  private static final int ESCAPE = 6;

  private byte[] bytes;
  private int length;

  private JsonBytes(int about) {
    bytes = new byte[about];
  }

  /**
   * That tree.
   *
   * @param about its length, roughly
   */
  static byte[] of(JsonNode node, int about) {
    JsonBytes json = new JsonBytes(about);
    json.value(node);
    return Arrays.copyOf(json.bytes, json.length);
  }

  private void value(JsonNode node) {
    switch (node.getNodeType()) {
      case OBJECT -> {
        char before = '{';
        for (var field : node.properties()) {
          ascii(before);
          text(field.getKey());
          ascii(':');
          value(field.getValue());
          before = ',';
        }
        end(before, '{', '}');
      }
      case ARRAY -> {
        char before = '[';
        for (JsonNode element : node) {
          ascii(before);
          value(element);
          before = ',';
        }
        end(before, '[', ']');
      }
      case STRING -> text(node.textValue());
      default -> {
        boolean isShort = node.isIntegralNumber() || node.isBoolean() || node.isNull();
        // Jackson makes a whole writer for the text of a number.
        plain((isShort ? node.asText() : node.toString()).getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  private void end(char before, char opening, char closing) {
    if (before == opening) {
      ascii(opening);
    }
    ascii(closing);
  }

  private void text(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    ascii('"');
    int from = 0;
    for (int i = 0; i < utf8.length; i++) {
      byte b = utf8[i];
      if ((b < ' ' && b >= 0) || b == '"' || b == '\\') {
        append(utf8, from, i);
        escaped(b);
        from = i + 1;
      }
    }
    append(utf8, from, utf8.length);
    ascii('"');
  }

  private void escaped(byte b) {
    ensure(ESCAPE);
    bytes[length++] = '\\';
    byte letter =
        switch (b) {
          case '\b' -> 'b';
          case '\f' -> 'f';
          case '\n' -> 'n';
          case '\r' -> 'r';
          case '\t' -> 't';
          case '"', '\\' -> b;
          default -> 'u';
        };
    bytes[length++] = letter;
    if (letter == 'u') {
      bytes[length++] = '0';
      bytes[length++] = '0';
      bytes[length++] = HEX[b >> 4];
      bytes[length++] = HEX[b & 0xF];
    }
  }

  private void plain(byte[] all) {
    append(all, 0, all.length);
  }

  private void ascii(char c) {
    ensure(1);
    bytes[length++] = (byte) c;
  }

  private void append(byte[] from, int start, int end) {
    ensure(end - start);
    System.arraycopy(from, start, bytes, length, end - start);
    length += end - start;
  }

  private void ensure(int more) {
    if (more > bytes.length - length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
    }
  }
}
