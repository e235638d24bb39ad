package io.github.gatlingllm.record;

import java.nio.file.Path;

/**
 * Paths of the files of a run.
 *
 * @param run directory of the run, the one with Gatling's {@code index.html}
 */
public record RunFiles(Path run) {

  /** The folder of all files but the page. */
  public Path folder() {
    return run.resolve("llm");
  }

  public Path requests() {
    return folder().resolve("requests.jsonl");
  }

  public Path csv() {
    return folder().resolve("requests.csv");
  }

  /** One line per planned arrival. */
  public Path arrivals() {
    return folder().resolve("arrivals.jsonl");
  }

  /** One line per second: health of the load generator. */
  public Path generator() {
    return folder().resolve("generator.jsonl");
  }

  /** The server's own metrics, one line per page and second. */
  public Path server() {
    return folder().resolve("server.jsonl");
  }

  /** The run as a whole, see {@link RunInfo}. */
  public Path info() {
    return folder().resolve("run.json");
  }

  public Path summaryJson() {
    return folder().resolve("summary.json");
  }

  /** The main figures as Markdown, for issues and chats. */
  public Path summaryMarkdown() {
    return folder().resolve("summary.md");
  }

  /** One test case per assertion, for CI servers. */
  public Path junit() {
    return folder().resolve("junit.xml");
  }

  public Path page() {
    return run.resolve("llm.html");
  }
}
