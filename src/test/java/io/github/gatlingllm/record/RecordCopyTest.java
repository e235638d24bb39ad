package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

final class RecordCopyTest {

  private static final LevelInfo LEVEL =
      new LevelInfo("c=8", "a", null, LevelInfo.CLOSED_LOOP, 8.0, "users", List.of());

  @Test
  void changesOneComponentAndKeepsTheOthers() {
    assertThat(RecordCopy.with(LEVEL, "unit", "requests/s"))
        .isEqualTo(
            new LevelInfo("c=8", "a", null, LevelInfo.CLOSED_LOOP, 8.0, "requests/s", List.of()));
    assertThat(RecordCopy.with(LEVEL, "offered", null).offered()).isNull();
    assertThat(LEVEL.unit()).isEqualTo("users");
  }

  @Test
  void refusesWhatIsNoComponentAndWhatHasAnotherType() {
    assertThatThrownBy(() -> RecordCopy.with(LEVEL, "users", 8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("LevelInfo has no component 'users'");
    assertThatThrownBy(() -> RecordCopy.with(LEVEL, "unit", 8))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
