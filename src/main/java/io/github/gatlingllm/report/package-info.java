/**
 * Writes the report files of runs, and the command line for recorded runs, {@link
 * io.github.gatlingllm.report.Main}. Not for users of the DSL.
 *
 * <p>Pages use the templates ({@code *.peb}) in the resources of this package. A {@link
 * io.github.gatlingllm.report.Table} is built once and rendered as HTML, as Markdown and as lines
 * of text. Charts are data that {@code report.js} draws. {@link
 * io.github.gatlingllm.figures.metric.NumberText} formats all numbers, so that all files agree.
 */
@NullMarked
package io.github.gatlingllm.report;

import org.jspecify.annotations.NullMarked;
