/**
 * From figures to files, and the command line over recorded runs. Not for users of the DSL: they
 * meet {@link io.github.gatlingllm.report.Main} and what it writes.
 *
 * <p>Pages are laid out by the templates ({@code *.peb}) that lie beside these classes; a {@link
 * io.github.gatlingllm.report.Table} of facts is built once and rendered as HTML, as Markdown and
 * as lines of text; charts are data that {@code report.js} draws. Every number goes through one
 * formatter, so that all files agree.
 */
@NullMarked
package io.github.gatlingllm.report;

import org.jspecify.annotations.NullMarked;
