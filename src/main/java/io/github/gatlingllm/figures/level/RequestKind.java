package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Summary.Dimension;
import io.github.gatlingllm.record.RequestRecord;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The names by which the requests of a load level are told apart. */
record RequestKind(String name, String model, String replica) {

  private static final String OTHERS = "(other names)";

  static final RequestKind OTHER = new RequestKind(OTHERS, OTHERS, OTHERS);

  String of(Dimension dimension) {
    return switch (dimension) {
      case MODEL -> model;
      case REPLICA -> replica;
    };
  }

  /** Everything in a record that decides where it is counted. */
  record Labels(
      String stage,
      String target,
      String scenario,
      String name,
      @Nullable String model,
      String endpoint,
      @Nullable String replica) {

    static Labels of(RequestRecord record) {
      RequestRecord.Identity id = record.identity();
      return new Labels(
          id.stage(),
          id.target(),
          id.scenario(),
          id.name(),
          id.model(),
          id.endpoint(),
          record.server().replica());
    }
  }

  /** The names of a run, of which later ones beyond some count as {@value RequestKind#OTHERS}. */
  static final class Names {

    private static final int MOST = 100;

    private final Set<String> names = new HashSet<>();
    private final Set<String> models = new HashSet<>();
    private final Set<String> replicas = new HashSet<>();

    RequestKind kindOf(RequestRecord record) {
      return new RequestKind(
          bounded(names, record.identity().name()),
          bounded(models, record.identity().model()),
          bounded(replicas, replica(record)));
    }

    /** The replica that answered, as it names itself; else host and port of the endpoint. */
    private static String replica(RequestRecord record) {
      String named = record.server().replica();
      if (named != null) {
        return named;
      }
      String endpoint = record.identity().endpoint();
      int from = endpoint.indexOf("//") + 2;
      int to = endpoint.indexOf('/', from);
      return endpoint.substring(from, to < 0 ? endpoint.length() : to);
    }

    private static String bounded(Set<String> known, @Nullable String given) {
      String name = given == null ? "" : given;
      return known.contains(name) || (known.size() < MOST && known.add(name)) ? name : OTHERS;
    }
  }
}
