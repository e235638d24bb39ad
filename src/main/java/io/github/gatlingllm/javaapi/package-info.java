/** What users write. The public API of the project; all else may change without notice. */
@NullMarked
package io.github.gatlingllm.javaapi;

import org.jspecify.annotations.NullMarked;
