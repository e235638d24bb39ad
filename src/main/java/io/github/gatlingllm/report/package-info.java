/**
 * From numbers to files: the HTML report, and the block in Gatling's own pages. Every figure comes
 * from the {@code stats} model and through one formatter, so all files agree.
 */
@NullMarked
package io.github.gatlingllm.report;

import org.jspecify.annotations.NullMarked;
