package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Summary.Dimension;
import io.github.gatlingllm.record.RequestRecord;

/** The names by which the requests of a load level are told apart. */
record RequestKind(String name, String model, String replica) {

  /** The replica that answered, as it names itself; else host and port of the endpoint. */
  static String replica(RequestRecord record) {
    String named = record.server().replica();
    if (named != null) {
      return named;
    }
    String endpoint = record.identity().endpoint();
    int from = endpoint.indexOf("//") + 2;
    int to = endpoint.indexOf('/', from);
    return endpoint.substring(from, to < 0 ? endpoint.length() : to);
  }

  String of(Dimension dimension) {
    return switch (dimension) {
      case MODEL -> model;
      case REPLICA -> replica;
    };
  }
}
