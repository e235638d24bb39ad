/**
 * Access to the folders of runs on disk, in archives and in S3-compatible object storage, and
 * upload to the latter. Archives and object stores are untrusted input: paths, sizes and counts are
 * checked.
 */
@NullMarked
package io.github.gatlingllm.storage;

import org.jspecify.annotations.NullMarked;
