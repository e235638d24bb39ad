package io.github.gatlingllm.action;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.run.Run;

/** Where requests are numbered and kept: in the run, or nowhere when they only warm up. */
interface RequestLog {

  /** The number of the request that starts now. */
  long next();

  /** The id that this request is sent and kept under. */
  String requestId(long number);

  /** A request has started whose record is to come. */
  void started();

  /** A request was admitted. */
  void admitted();

  /** An admitted request is over. */
  void ended();

  /** Takes the record of a request that is over. */
  void keep(RequestRecord record);

  /** Whether Gatling's statistics hear of these requests. */
  boolean inStatistics();

  /** The requests that are measured. */
  static RequestLog of(Run run) {
    return new RequestLog() {
      @Override
      public long next() {
        return run.nextRequest();
      }

      @Override
      public String requestId(long number) {
        return run.requestId(number);
      }

      @Override
      public void started() {
        run.started();
      }

      @Override
      public void admitted() {
        run.admitted();
      }

      @Override
      public void ended() {
        run.ended();
      }

      @Override
      public void keep(RequestRecord record) {
        run.record(record);
      }

      @Override
      public boolean inStatistics() {
        return true;
      }
    };
  }
}
