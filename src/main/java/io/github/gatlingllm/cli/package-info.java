/**
 * The runnable jar: {@code java -jar gatling-llm.jar}. Runs the benchmark, works on recorded runs,
 * serves the embedded engine. Not for users' code; they call its command line.
 */
@NullMarked
package io.github.gatlingllm.cli;

import org.jspecify.annotations.NullMarked;
