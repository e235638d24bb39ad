package io.github.gatlingllm.settings;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigIncludeContext;
import com.typesafe.config.ConfigIncluder;
import com.typesafe.config.ConfigList;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigOrigin;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigParseable;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueFactory;
import com.typesafe.config.ConfigValueType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Settings in a file of HOCON or JSON, by their names: {@code concurrency = [1, 2, 4]}, {@code
 * header { X-Tenant = acme }}. A list is a comma list, {@code null} is not set.
 */
final class ConfigFile {

  /**
   * A setting of the file.
   *
   * @param where file and line, or the variable of the environment that the value is of
   */
  record Entry(String name, String text, String where) {}

  /** What is an object itself: also that of a class of traffic. */
  private static final Pattern BODY = Pattern.compile("(?:class\\.[^.]+\\.)?" + Setting.BODY.name);

  private final String file;
  private final List<Entry> entries = new ArrayList<>();

  private ConfigFile(String file) {
    this.file = file;
  }

  static List<Entry> read(String file) {
    ConfigFile read = new ConfigFile(file);
    var unused = EnvFile.text(file, "llm.config=" + file); // refuses what is not text file
    try {
      Config parsed =
          ConfigFactory.parseFile(
              Path.of(file).toAbsolutePath().toFile(), // else siblings are not found
              ConfigParseOptions.defaults().appendIncluder(new Included()));
      read.add("", parsed.resolve().root());
    } catch (ConfigException.IO | ConfigException.BugOrBroken e) {
      throw new IllegalArgumentException(
          "llm.config=%s: an included file cannot be read; expected one beside it".formatted(file));
    } catch (ConfigException e) {
      throw new IllegalArgumentException(read.mistake(e));
    } catch (StackOverflowError | OutOfMemoryError e) {
      throw new IllegalArgumentException(
          "llm.config=%s is nested too deeply, or too large".formatted(file));
    }
    return read.entries;
  }

  private String mistake(ConfigException e) {
    ConfigOrigin origin = e.origin();
    String found = String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
    if (origin != null && found.startsWith(origin.description())) {
      // Without its long advice, and without texts of the file: one may be a key.
      found = found.substring(origin.description().length()).replaceFirst("^: *", "");
      found = found.replaceFirst("(?: \\(|, you).*", "").replaceAll("'[^']{2,}'", "'…'");
      String remedy =
          e instanceof ConfigException.UnresolvedSubstitution
              ? "set it, or write ${?…}"
              : "check brackets, commas and quotes";
      return "%s: %s; %s".formatted(where(origin), found, remedy);
    }
    return "llm.config=%s is not understood; expected HOCON or JSON".formatted(file);
  }

  private void add(String prefix, ConfigObject object) {
    object.forEach(
        (key, value) -> {
          String name = prefix + key;
          if (value instanceof ConfigObject inner && !BODY.matcher(name).matches()) {
            add(name + ".", inner);
          } else if (value.valueType() != ConfigValueType.NULL) {
            entries.add(new Entry(name, text(value).strip(), where(value.origin())));
          }
        });
  }

  private static String text(ConfigValue value) {
    return value instanceof ConfigList list
        ? list.stream().map(ConfigFile::text).collect(Collectors.joining(","))
        : value instanceof ConfigObject object
            ? object.render(ConfigRenderOptions.concise())
            : String.valueOf(value.unwrapped());
  }

  private String where(ConfigOrigin origin) {
    if (origin.filename() == null) {
      return origin.description();
    }
    Path folder = Objects.requireNonNull(Path.of(file).toAbsolutePath().getParent());
    Path relative = folder.relativize(Path.of(origin.filename()));
    return Objects.requireNonNull(Path.of(file).resolveSibling(relative))
        + (origin.lineNumber() < 0 ? "" : ":" + origin.lineNumber());
  }

  /** Writes settings as such a file: as JSON by the ending {@code .json}, else as HOCON. */
  static void write(Path file, Map<String, String> settings) throws IOException {
    ConfigRenderOptions form =
        ConfigRenderOptions.defaults()
            .setOriginComments(false)
            .setJson(file.toString().endsWith(".json"));
    Files.writeString(file, ConfigValueFactory.fromMap(settings).render(form));
  }

  /** Unlike HOCON's own it refuses files that are missing, devices and pipes. */
  private static final class Included implements ConfigIncluder {
    @Override
    public ConfigIncluder withFallback(ConfigIncluder fallback) {
      return this;
    }

    @Override
    public ConfigObject include(ConfigIncludeContext context, String what) {
      ConfigParseable included = context.relativeTo(what);
      String file = included.origin().filename();
      if (file != null && Files.exists(Path.of(file))) {
        var unused = EnvFile.text(file, file);
      }
      return included.parse(context.parseOptions().setAllowMissing(false));
    }
  }
}
