package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** What holds for any record that may be written, likely or not. */
class RecordPropertyTest {

  /** Written and read and written again it is the same, on one line for every reader. */
  @Property(tries = 2_000)
  void anyRecordRoundTrips(@ForAll long seed) throws IOException {
    RequestRecord record = new RandomRecords(seed).any();
    byte[] line = RecordCodec.write(record);
    RequestRecord again = RecordCodec.read(line, 0, line.length);
    assertThat(again).usingRecursiveComparison().isEqualTo(record);
    assertThat(RecordCodec.write(again)).isEqualTo(line);
    String text = new String(line, UTF_8);
    assertThat(text).endsWith("}\n");
    assertThat(text.strip()).doesNotContainPattern("[\\x00-\\x1f\\x7f\\x85\\u2028\\u2029]");
  }

  /** A file is read with any buffer. */
  @Property(tries = 300)
  void anyFileIsReadTheSameWithAnyBuffer(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 5_000) int room) throws IOException {
    RandomRecords random = new RandomRecords(seed);
    StringBuilder file = new StringBuilder();
    for (int i = 0; i < 4; i++) {
      file.append(new String(RecordCodec.write(random.any()), UTF_8));
    }
    List<RequestRecord> read = new ArrayList<>();
    RecordFile.read(
        new ByteArrayInputStream(file.toString().getBytes(UTF_8)), room, 1 << 20, read::add);
    StringBuilder again = new StringBuilder();
    read.forEach(record -> again.append(new String(RecordCodec.write(record), UTF_8)));
    assertThat(again.toString()).isEqualTo(file.toString());
  }

  /** Objectives are read as they are printed. */
  @Property
  void anySloRoundTrips(@ForAll("slos") String text) {
    Slo slo = Slo.parse(text);
    assertThat(Slo.parse(slo.toString())).isEqualTo(slo);
  }

  @Provide
  Arbitrary<String> slos() {
    Arbitrary<String> objective =
        Arbitraries.of("ttft", "tpot", "e2e")
            .flatMap(
                measure ->
                    Arbitraries.integers()
                        .between(1, 100_000)
                        .flatMap(
                            limit ->
                                Arbitraries.of("us", "ms", "s")
                                    .map(unit -> measure + "<" + limit + unit)));
    return objective
        .list()
        .ofMinSize(1)
        .ofMaxSize(3)
        .uniqueElements(text -> text.substring(0, text.indexOf('<')))
        .map(list -> String.join(",", list));
  }
}
