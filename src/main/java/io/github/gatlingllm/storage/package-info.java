/** The folders of runs, on disk and in S3-compatible object storage, whose keys are untrusted. */
@NullMarked
package io.github.gatlingllm.storage;

import org.jspecify.annotations.NullMarked;
