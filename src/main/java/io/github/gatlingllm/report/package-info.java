/**
 * Writes the report files of runs, and the command line for recorded runs, {@link
 * io.github.gatlingllm.report.Main}. Not for users of the DSL.
 *
 * <p>A {@link io.github.gatlingllm.report.Table} is built once and rendered as HTML, as Markdown
 * and as lines of text. Charts are data that {@code report.js} draws.
 */
@NullMarked
package io.github.gatlingllm.report;

import org.jspecify.annotations.NullMarked;
