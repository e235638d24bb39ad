/** Whether this process is one of several injectors of a load test, and when it is to start. */
@NullMarked
package io.github.gatlingllm.injector;

import org.jspecify.annotations.NullMarked;
