package io.github.gatlingllm.client;

import io.github.gatlingllm.client.ChunkListener.Channel;
import io.github.gatlingllm.client.ChunkParser.TextBytes;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The fields and events that carry generated text, a table for each API. */
final class TextFields {

  /** Of deltas, messages, and their parts at any depth. */
  static final Map<String, Channel> OF_MESSAGE =
      table(
          "content text output_text: CONTENT",
          "reasoning reasoning_content reasoning_text reasoning_details thinking thinking_blocks"
              + " thoughts summary: REASONING",
          "refusal: REFUSAL",
          "audio transcript: TRANSCRIPT");

  /** Of a call of a function or of a custom tool. */
  static final Map<String, Channel> OF_CALL =
      table(
          "name: TOOL_NAME",
          "arguments input code: TOOL_ARGUMENTS",
          "partial_json: TOOL_ARGUMENTS");

  /** Types of events with a {@code delta}, or with the text at its end: {@code ….done}. */
  static final Map<String, Channel> OF_EVENT =
      table(
          "response.output_text: CONTENT",
          "response.reasoning response.reasoning_text response.reasoning_summary"
              + " response.reasoning_summary_text: REASONING",
          "response.refusal: REFUSAL",
          "response.audio.transcript response.audio_transcript response.output_audio_transcript:"
              + " TRANSCRIPT",
          "response.function_call_arguments response.custom_tool_call_input"
              + " response.mcp_call_arguments response.code_interpreter_call_code: TOOL_ARGUMENTS");

  /** Fields of a delta, and types of events, that hold no text. */
  private static final Set<String> WITHOUT_TEXT =
      Set.of(
          ("role id type name object model status index signature phase"
                  + " reasoning_signature encrypted_content tool_call_id finish_reason"
                  + " stop_reason stop_sequence annotations citations citation logprobs"
                  + " provider channel recipient service_tier system_fingerprint metadata"
                  + " extra_content images provider_specific_fields event_id obfuscation"
                  + " container created response.audio response.output_audio")
              .split(" ", -1));

  private TextFields() {}

  private static Map<String, Channel> table(String... rows) {
    Map<String, Channel> table = new HashMap<>();
    for (String row : rows) {
      String[] parts = row.split(": *", 2);
      for (String name : parts[0].split(" ", -1)) {
        table.put(name, Channel.valueOf(parts[1].strip()));
      }
    }
    return Map.copyOf(table);
  }

  static boolean mayHaveText(String name) {
    return !WITHOUT_TEXT.contains(name);
  }

  /**
   * Adds the texts of the current value: a string, a part with fields of a table, or a list of
   * these. All that is in reasoning is reasoning.
   */
  static void add(
      ChunkParser parser, Map<String, Channel> table, Channel channel, List<TextBytes> found)
      throws IOException {
    parser.add(channel, found);
    for (boolean more = parser.firstElement(); more; more = parser.nextElement()) {
      add(parser, table, channel, found);
    }
    for (String field = parser.firstField(); field != null; field = parser.nextField()) {
      @Nullable Channel own = table.get(field);
      if (own != null) {
        add(parser, table, channel == Channel.REASONING ? channel : own, found);
      }
    }
  }

  /** Adds name and arguments of a call; arguments may be a JSON object in place of a text. */
  static void addCall(ChunkParser parser, String field, List<TextBytes> found) throws IOException {
    @Nullable Channel channel = OF_CALL.get(field);
    if (channel == null) {
      return;
    }
    parser.add(channel, found);
    if (channel == Channel.TOOL_ARGUMENTS && parser.json.isExpectedStartObjectToken()) {
      int start = parser.offset(parser.json.currentTokenLocation());
      parser.json.skipChildren();
      byte[] escaped = escaped(parser.buffer, start, parser.offset(parser.json.currentLocation()));
      if (escaped.length > "{}".length()) {
        found.add(new TextBytes(channel, escaped, 0, escaped.length, -1, null));
      }
    }
  }

  private static byte[] escaped(byte[] buffer, int from, int to) {
    byte[] content = new byte[2 * (to - from)];
    int length = 0;
    for (int i = from; i < to; i++) {
      if (buffer[i] == '\\') {
        content[length++] = '\\';
      }
      content[length++] = buffer[i];
    }
    return Arrays.copyOf(content, length);
  }
}
