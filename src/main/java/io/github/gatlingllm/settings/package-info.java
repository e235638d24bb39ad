/**
 * What users set: the catalogue of settings, {@link io.github.gatlingllm.settings.Setting}, and
 * their values, from options, system properties, the environment and files.
 */
@NullMarked
package io.github.gatlingllm.settings;

import org.jspecify.annotations.NullMarked;
