package io.github.gatlingllm.client;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.gatling.netty.util.Transports;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Reads floods in a closed loop: as many streams as told, each starting anew as soon as it ended. A
 * process of its own: {@code FloodClient <reader> <port> <streams> <token events> <event loops>}
 * reads a number of seconds per line, and answers each with {@code <events> <CPU nanoseconds of the
 * process> <bytes allocated by the event loops>}.
 */
final class FloodClient {

  private static final int REQUESTS_BYTES = 120;

  /** One way to receive a stream. */
  interface Reader extends AutoCloseable {

    /**
     * Sends one request. To be called on that event loop.
     *
     * @param stream 0, 1, 2 …; each has a connection of its own
     * @param whenEnded to be called on the event loop once the whole stream is in
     */
    void read(int stream, EventLoop eventLoop, Runnable whenEnded);

    @Override
    void close() throws IOException;
  }

  private final Reader reader;
  private final int streams;
  private final int eventsPerStream;
  private final EventLoopGroup eventLoops;
  private final AtomicLong ended = new AtomicLong();
  private volatile boolean running;

  private FloodClient(Reader reader, int streams, int eventsPerStream, EventLoopGroup eventLoops) {
    this.reader = reader;
    this.streams = streams;
    this.eventsPerStream = eventsPerStream;
    this.eventLoops = eventLoops;
  }

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[1]);
    int events = Integer.parseInt(args[3]);
    EventLoopGroup eventLoops =
        Transports.newEventLoopGroup(true, false, Integer.parseInt(args[4]), "client");
    try (Reader reader = reader(args[0], port, events);
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      FloodClient client = new FloodClient(reader, Integer.parseInt(args[2]), events, eventLoops);
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        System.out.println(client.round(Double.parseDouble(line)));
      }
    }
    System.exit(0);
  }

  private static Reader reader(String name, int port, int events) throws IOException {
    byte[] body = "x".repeat(REQUESTS_BYTES).getBytes(StandardCharsets.US_ASCII);
    return switch (name) {
      case "netty" -> new FloodReaders.Netty(port, body);
      case "gatling" -> new FloodReaders.Gatling(port, body);
      case "llm" -> new FloodReaders.Llm(port, body, events);
      default -> throw new IllegalArgumentException("no such reader: " + name);
    };
  }

  private String round(double seconds) throws InterruptedException {
    List<Long> threads = new ArrayList<>();
    for (EventExecutor eventLoop : eventLoops) {
      threads.add(eventLoop.submit(() -> Thread.currentThread().getId()).sync().getNow());
    }
    CountDownLatch left = new CountDownLatch(streams);
    long endedBefore = ended.get();
    long allocatedBefore = allocated(threads);
    long cpuBefore = cpuNanos();
    running = true;
    for (int i = 0; i < streams; i++) {
      int stream = i;
      EventLoop eventLoop = eventLoops.next();
      eventLoop.execute(() -> next(stream, eventLoop, left));
    }
    TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
    running = false;
    left.await();
    return String.join(
        " ",
        String.valueOf((ended.get() - endedBefore) * eventsPerStream),
        String.valueOf(cpuNanos() - cpuBefore),
        String.valueOf(allocated(threads) - allocatedBefore));
  }

  private void next(int stream, EventLoop eventLoop, CountDownLatch left) {
    reader.read(
        stream,
        eventLoop,
        () -> {
          ended.incrementAndGet();
          if (running) {
            next(stream, eventLoop, left);
          } else {
            left.countDown();
          }
        });
  }

  private static long cpuNanos() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static long allocated(List<Long> threads) {
    ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    return threads.stream().mapToLong(bean::getThreadAllocatedBytes).sum();
  }
}
