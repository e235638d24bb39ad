package io.github.gatlingllm.client;

import com.sun.management.ThreadMXBean;
import io.github.gatlingllm.client.ChunkParser.Channel;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * How many events per CPU second decoder and parser take, and the garbage per event: a main, not a
 * test, because times depend on the machine.
 *
 * <pre>{@code
 * java -cp target/classes:target/test-classes:… io.github.gatlingllm.client.WireThroughput
 * }</pre>
 */
public final class WireThroughput {

  private static final int EVENTS = 2_000;
  private static final int ROUNDS = 500;
  private static final int REPEATS = 6;

  private static final String HEAD =
      "\"id\":\"chatcmpl-8f6c2c9d2b9a4a53a1f3c7e1d5b0e6aa\",\"object\":\"chat.completion.chunk\","
          + "\"created\":1763481600,\"model\":\"meta-llama/Llama-3.1-8B-Instruct\"";

  /** Nothing of it but the arguments differs from chunk to chunk. */
  private static final String TOOL_CALL =
      "\"tool_calls\":[{\"index\":0,\"id\":null,\"type\":\"function\","
          + "\"function\":{\"name\":null,\"arguments\":\"tok%d\"}}]";

  private WireThroughput() {}

  public static void main(String[] args) {
    Map<String, List<byte[]>> streams = new TreeMap<>();
    streams.put("vLLM", stream("{%s,\"choices\":[%s]}"));
    streams.put("vLLM, tool call", stream(TOOL_CALL, "{%s,\"choices\":[%s]}"));
    streams.put(
        "vLLM, usage in each chunk",
        stream(
            "{%s,\"choices\":[%s],\"usage\":{\"prompt_tokens\":1024,\"total_tokens\":%d,"
                + "\"completion_tokens\":%<d}}"));
    streams.put(
        "OpenAI, obfuscation",
        stream("{%s,\"choices\":[%s],\"usage\":null,\"obfuscation\":\"%x\"}"));
    streams.forEach((name, events) -> measure(Api.CHAT, name, events));
    measure(
        Api.RESPONSES,
        "OpenAI, responses",
        typed(
            "response.output_text.delta",
            "\"sequence_number\":%d,\"item_id\":\"msg_8f6c2c9d2b9a4a53a1f3c7e1d5b0e6aa\","
                + "\"output_index\":1,\"content_index\":0,\"delta\":\" tok%<d\","
                + "\"logprobs\":[],\"obfuscation\":\"%<x\"}"));
    measure(
        Api.MESSAGES,
        "messages",
        typed(
            "content_block_delta",
            "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" tok%d\"}}"));
  }

  private static List<byte[]> typed(String type, String form) {
    List<byte[]> events = new ArrayList<>();
    for (int i = 0; i < EVENTS; i++) {
      String data = "{\"type\":\"" + type + "\"," + String.format(Locale.ROOT, form, i);
      events.add(("event: " + type + "\ndata: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
    }
    return events;
  }

  private static void measure(Api api, String name, List<byte[]> events) {
    measureReads(api, name + ", one event per read", events);
    measureReads(api, name + ", reads of 8 KiB", inReadsOf(8 * 1024, events));
  }

  private static List<byte[]> stream(String form) {
    return stream("\"content\":\" tok%d\"", form);
  }

  private static List<byte[]> stream(String delta, String form) {
    List<byte[]> events = new ArrayList<>();
    for (int i = 0; i < EVENTS; i++) {
      String choice =
          "{\"index\":0,\"delta\":{"
              + String.format(Locale.ROOT, delta, i)
              + "},\"logprobs\":null,\"finish_reason\":null}";
      String data = String.format(Locale.ROOT, form, HEAD, choice, i);
      events.add(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
    }
    return events;
  }

  private static List<byte[]> inReadsOf(int size, List<byte[]> events) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    events.forEach(all::writeBytes);
    byte[] bytes = all.toByteArray();
    List<byte[]> reads = new ArrayList<>();
    for (int from = 0; from < bytes.length; from += size) {
      reads.add(Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + size)));
    }
    return reads;
  }

  private static void measureReads(Api api, String name, List<byte[]> reads) {
    ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    Counter counter = new Counter();
    double best = 0;
    double allocated = Double.MAX_VALUE;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
      long before = counter.deltas;
      long bytes = thread.getThreadAllocatedBytes(id);
      long cpu = thread.getCurrentThreadCpuTime();
      for (int round = 0; round < ROUNDS; round++) {
        SseDecoder decoder = new SseDecoder(new ChunkParser(api, counter), new AnswerMemory());
        for (byte[] read : reads) {
          decoder.feed(read, 0, read.length);
        }
        decoder.endOfStream();
      }
      double seconds = (thread.getCurrentThreadCpuTime() - cpu) / 1e9;
      double events = counter.deltas - before;
      best = Math.max(best, events / seconds);
      allocated = Math.min(allocated, (thread.getThreadAllocatedBytes(id) - bytes) / events);
    }
    System.out.printf(
        Locale.ROOT,
        "%-46s %,12.0f events per CPU second, %6.1f ns and %5.2f bytes of garbage each%n",
        name,
        best,
        1e9 / best,
        allocated);
  }

  /** Does as little as a listener can: the figures are the wire's own. */
  private static final class Counter implements ChunkParser.Listener {
    private long deltas;

    @Override
    public void delta(int choice, Channel channel, byte[] buffer, int offset, int length) {
      deltas++;
    }

    @Override
    public void toolCall(int choice, int call, String id) {}

    @Override
    public void finish(int choice, String reason) {}

    @Override
    public void usage(int prompt, int completion, int cached, int reasoning) {}

    @Override
    public void server(String key, double value) {}

    @Override
    public void error(String message) {
      throw new IllegalStateException(message);
    }

    @Override
    public void done() {}

    @Override
    public void malformed(String why) {
      throw new IllegalStateException(why);
    }

    @Override
    public void eventEnd() {}
  }
}
