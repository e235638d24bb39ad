package io.github.gatlingllm.action;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.run.Run;

/** Where requests are numbered and kept: in the run, unless they only warm up. */
class RequestLog {

  private final Run run;

  RequestLog(Run run) {
    this.run = run;
  }

  /** The number of the request that starts now. */
  long next() {
    return run.nextRequest();
  }

  /** The id that this request is sent and kept under. */
  String requestId(long number) {
    return run.requestId(number);
  }

  /** A request has started whose record is to come. */
  void started() {
    run.started();
  }

  /** A request was admitted. */
  void admitted() {
    run.admitted();
  }

  /** An admitted request is over. */
  void ended() {
    run.ended();
  }

  /** Takes the record of a request that is over. */
  void keep(RequestRecord record) {
    run.record(record);
  }

  /** Whether Gatling's statistics hear of these requests. */
  boolean inStatistics() {
    return true;
  }
}
