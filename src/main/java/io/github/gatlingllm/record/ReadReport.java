package io.github.gatlingllm.record;

import java.util.List;

/**
 * What a file of records held besides its records.
 *
 * @param records records that were read
 * @param cutTailBytes bytes of a last line that was cut off, as after a crash; 0 when the file ends
 *     whole
 * @param badLines lines that are no record and were left out
 * @param firstBadLines the first few of them
 */
public record ReadReport(
    long records, long cutTailBytes, long badLines, List<BadLine> firstBadLines) {

  public ReadReport {
    firstBadLines = List.copyOf(firstBadLines);
  }

  /**
   * A line that is no record.
   *
   * @param number from 1
   * @param reason one line
   */
  public record BadLine(long number, String reason) {}

  /** Whether the file held nothing but whole records. */
  public boolean isClean() {
    return cutTailBytes == 0 && badLines == 0;
  }
}
