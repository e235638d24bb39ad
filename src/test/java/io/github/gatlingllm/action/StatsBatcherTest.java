package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StatsBatcherTest {

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final EventLoop eventLoop = channel.eventLoop();
  private final List<Integer> logged = new ArrayList<>();

  StatsBatcherTest() {
    channel.freezeTime();
  }

  @AfterEach
  void close() {
    advance(101);
    assertThat(channel.close().isSuccess()).isTrue();
  }

  private void log(int rows) {
    for (int i = 0; i < rows; i++) {
      int row = i;
      StatsBatcher.log(eventLoop, Runnable::run, () -> logged.add(row));
    }
  }

  private void advance(long millis) {
    channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
    channel.runPendingTasks();
  }

  @Test
  void fullBatchIsPassedOnImmediatelyInOrder() {
    log(127);
    assertThat(logged).isEmpty();
    log(1);
    assertThat(logged).hasSize(128).startsWith(0, 1, 2).endsWith(125, 126, 0);
  }

  @Test
  void noRowWaitsLongerThanATenthOfASecond() {
    log(2);
    advance(1);
    assertThat(logged).isEmpty();
    advance(101);
    assertThat(logged).containsExactly(0, 1);
    log(1);
    advance(101);
    assertThat(logged).as("and again").containsExactly(0, 1, 0);
  }

  @Test
  void rowsArePassedOnBeforeTheirUserLeaves() {
    log(3);
    StatsBatcher.userLeaves();
    assertThat(logged).containsExactly(0, 1, 2);
    advance(101);
    assertThat(logged).hasSize(3);
  }
}
