package io.github.gatlingllm.action;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.run.Run;

/**
 * Numbers the requests of a run and takes their records. Warm-up requests have one of their own.
 */
class RequestLog {

  private final Run run;

  RequestLog(Run run) {
    this.run = run;
  }

  /** The number of the next request. */
  long next() {
    return run.nextRequest();
  }

  /** The id of a request, in its headers and its record. */
  String requestId(long number) {
    return run.requestId(number);
  }

  /** Counts a request that starts and will have a record. */
  void started() {
    run.started();
  }

  /** Counts an admitted request. */
  void admitted() {
    run.admitted();
  }

  /** Counts an admitted request that has ended. */
  void ended() {
    run.ended();
  }

  /** Takes the record of a request that has ended. */
  void keep(RequestRecord record) {
    run.record(record);
  }

  /** Whether these requests are in Gatling's statistics. */
  boolean inStatistics() {
    return true;
  }
}
