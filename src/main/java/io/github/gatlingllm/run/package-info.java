/** One run: directory, recorder, live figures, load levels and report. Not for users' code. */
@NullMarked
package io.github.gatlingllm.run;

import org.jspecify.annotations.NullMarked;
