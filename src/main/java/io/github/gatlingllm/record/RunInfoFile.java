package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/**
 * A {@link RunInfo} as {@code llm/run.json}: one JSON object, keys in snake case, times as {@code
 * …_unix_ns}. A reader never sees half a file.
 */
public final class RunInfoFile {

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .addMixIn(Phase.class, Keyed.class)
          .build();

  private RunInfoFile() {}

  private interface Keyed {
    @JsonValue
    String key();
  }

  /** Writes a file beside it and moves that into place; missing directories are made. */
  public static void write(RunInfo info, Path runJson) throws IOException {
    Path file = runJson.toAbsolutePath();
    Files.createDirectories(file.getParent());
    Path whole = file.resolveSibling(file.getFileName() + ".tmp");
    Files.write(whole, JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(info));
    Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /**
   * The run in that file; empty if there is no such file. Unknown keys are skipped.
   *
   * @throws IOException if it is no run of this version of the format; the message is one line
   */
  public static Optional<RunInfo> read(Path runJson) throws IOException {
    RunInfo info;
    try {
      info = JSON.readValue(Files.readAllBytes(runJson), RunInfo.class);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (JsonProcessingException e) {
      throw new IOException(
          runJson + " is not understood: " + e.getOriginalMessage().replaceAll("\\s+", " "), e);
    }
    if (!RunInfo.SCHEMA.equals(info.schema())) {
      throw new IOException(
          runJson + " has schema '" + info.schema() + "'; expected " + RunInfo.SCHEMA);
    }
    return Optional.of(info);
  }
}
