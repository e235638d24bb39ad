package io.github.gatlingllm.record;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a load generator ran on.
 *
 * @param cpus processors that its process may use
 * @param cpuModel as the system names it; null where it does not
 * @param memoryBytes of the machine, or of the container; null where unknown
 * @param heapMaxBytes what the heap may grow to
 * @param jvm name and version of the virtual machine
 * @param jvmOptions those that decide how it compiles, collects and sizes its memory: {@code -X…}.
 *     System properties are not among them, as they may hold keys
 */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
public record Machine(
    int cpus,
    @Nullable String cpuModel,
    @Nullable Long memoryBytes,
    long heapMaxBytes,
    String jvm,
    List<String> jvmOptions) {

  public Machine {
    jvm = jvm == null ? "" : jvm;
    jvmOptions = jvmOptions == null ? List.of() : List.copyOf(jvmOptions);
  }
}
