package io.github.gatlingllm.simulations.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.workload.AnonymousLog;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code anonymize}: sessions to replay, without texts, of a log with texts. */
@Command(
    name = "gatling-llm anonymize",
    description = {
      "Makes a file for --sessions without texts: lengths, times, salted hashes of blocks of 64"
          + " tokens.",
      "Reads records of a run with recordText, JSON lines of OpenAI requests with their times, or"
          + " spans (OTLP/JSON)."
    },
    mixinStandardHelpOptions = true)
final class AnonymizeCommand implements Callable<Integer> {

  private static final int SALT_BYTES = 32;

  @Parameters(
      index = "0",
      paramLabel = "<log>",
      description = "a file, also .gz, or a folder of them")
  private String log = "";

  @Option(names = "--out", paramLabel = "<file>", description = "file to write [${DEFAULT-VALUE}]")
  private Path out = Path.of("sessions.jsonl");

  @Option(
      names = "--salt",
      paramLabel = "<text>",
      description = "equal blocks have equal hashes in files of the same salt [a random one]")
  private @Nullable String salt;

  @Override
  public Integer call() throws IOException {
    byte[] bytes = salt == null ? new byte[SALT_BYTES] : salt.getBytes(UTF_8);
    if (bytes.length == 0) {
      throw new IllegalArgumentException("--salt is empty; expected a text, or none of it");
    }
    if (salt == null) {
      new SecureRandom().nextBytes(bytes);
    }
    PrintableText.print("LLM: " + out + " has " + AnonymousLog.write(log, out, bytes));
    return 0;
  }
}
