package io.github.gatlingllm.figures.compare;

import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Random;

/**
 * A simulated server under closed loops of a given duration. It batches continuously: each step
 * gives every running answer one token, a new prompt makes the step longer, requests without a slot
 * wait. Its speed drifts over seconds, as on a shared machine, so that requests close in time are
 * correlated. Another seed is another run of the same server.
 */
final class BusyServer {

  private static final int SLOTS = 8;
  private static final double WANDER = 0.9;

  private final Random random;
  private final double seconds;
  private double ttftFactor = 1;
  private final List<RequestRecord> records = new ArrayList<>();
  private final List<LevelInfo> stages = new ArrayList<>();
  private double mood;
  private double moodUntil;

  BusyServer(long seed, double seconds) {
    this.random = new Random(seed);
    this.seconds = seconds;
  }

  /** This server with TTFT multiplied by a factor. */
  BusyServer ttft(double factor) {
    ttftFactor = factor;
    return this;
  }

  private static final class Answer {
    private final double start;
    private final double[] token;
    private int tokens;

    private Answer(double start, int length) {
      this.start = start;
      token = new double[length];
    }
  }

  ComparedRun run(int... levels) throws java.io.IOException {
    double clock = 0;
    for (int users : levels) {
      clock = level(users, clock) + 500;
    }
    RunInfo info =
        Recorded.run(clock / 1e3, stages.toArray(LevelInfo[]::new))
            .slo(Slo.parse("ttft<120ms,tpot<20ms", 95, Slo.Rule.PERCENTILES));
    return ComparedRun.read(info, null, Recorded.source(records));
  }

  private double level(int users, double from) {
    Deque<Answer> waiting = new ArrayDeque<>();
    List<Answer> running = new ArrayList<>();
    for (int user = 0; user < users; user++) {
      ask(waiting, from + 20 * random.nextDouble());
    }
    double now = from;
    double end = from + seconds * 1e3;
    while (!waiting.isEmpty() || !running.isEmpty()) {
      double step = (6 + 0.5 * running.size()) * speed(now) * Math.exp(0.1 * random.nextGaussian());
      while (!waiting.isEmpty() && running.size() < SLOTS) {
        running.add(waiting.remove());
        step += 10 + 15 * random.nextDouble();
      }
      now += step;
      for (Iterator<Answer> answers = running.iterator(); answers.hasNext(); ) {
        Answer answer = answers.next();
        answer.token[answer.tokens++] = now - answer.start;
        if (answer.tokens == answer.token.length) {
          answers.remove();
          records.add(record(answer, "c=" + users));
          if (now < end) {
            ask(waiting, now + 1);
          }
        }
      }
    }
    stages.add(Recorded.stage(users, from, end));
    return Math.max(now, end);
  }

  private void ask(Deque<Answer> waiting, double start) {
    waiting.add(new Answer(start, 12 + random.nextInt(25)));
  }

  /** The speed, which drifts by about 15 % with a correlation time of about two seconds. */
  private double speed(double now) {
    while (now > moodUntil) {
      mood = WANDER * mood + Math.sqrt(1 - WANDER * WANDER) * random.nextGaussian();
      moodUntil += 200;
    }
    return Math.exp(0.15 * mood);
  }

  private RequestRecord record(Answer answer, String stage) {
    double later = answer.token[0] * (ttftFactor - 1);
    for (int i = 0; i < answer.token.length; i++) {
      answer.token[i] += later;
    }
    return Recorded.at(answer.start).stage(stage).tokens(answer.token).record();
  }
}
