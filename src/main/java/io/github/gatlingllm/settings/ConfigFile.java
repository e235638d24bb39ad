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
import io.github.gatlingllm.client.Secrets;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Settings in files: in HOCON or JSON, by their names, {@code concurrency = [1, 2, 4]}, {@code
 * header { X-Tenant = acme }}, where a list is a comma list and {@code null} is not set; and by the
 * names of variables in lines as {@code .env} has them.
 */
final class ConfigFile {

  /** A name, and its value in double quotes, in single quotes, or as it is up to a comment. */
  private static final Pattern LINE =
      Pattern.compile(
          "(?:export\\s+)?([A-Za-z_][A-Za-z0-9_]*)\\s*=\\s*+"
              + "(?:\"((?:[^\"\\\\]|\\\\.)*+)\"|'([^']*)'|((?![\"'#]).*?)(?:$|(?=\\s#))|)"
              + "\\s*(?:#.*)?");

  private static final Pattern ESCAPE = Pattern.compile("\\\\(.)");

  private static final int MAX_BYTES = 1_000_000;
  private static final int MAX_WARNINGS = 20;

  /** What is an object itself: also that of a class of traffic. */
  private static final Pattern BODY = Pattern.compile("(?:class\\.[^.]+\\.)?" + Setting.BODY.name);

  private final String file;
  private final Map<String, ConfigValue> values = new LinkedHashMap<>();

  private ConfigFile(String file) {
    this.file = file;
  }

  static ConfigFile read(String file) {
    ConfigFile read = new ConfigFile(file);
    var unused = text(file, "llm.config=" + file); // refuses what is not text file
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
    return read;
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
            values.put(name, value);
          }
        });
  }

  /** Its values by the names of settings. */
  Map<String, ConfigValue> values() {
    return values;
  }

  static String text(ConfigValue value) {
    return value instanceof ConfigList list
        ? list.stream().map(ConfigFile::text).collect(Collectors.joining(","))
        : value instanceof ConfigObject object
            ? object.render(ConfigRenderOptions.concise())
            : String.valueOf(value.unwrapped());
  }

  /** File and line, or the variable of the environment that a value is of. */
  String where(ConfigOrigin origin) {
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

  /** The text of a file that a user wrote. */
  static String text(String path, String shown) {
    try {
      Path file = Path.of(path);
      if (!Files.isRegularFile(file) || Files.size(file) > MAX_BYTES) {
        throw new IOException("missing, a folder, a device or a pipe, or too long");
      }
      return Files.readString(file);
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(
          Secrets.oneLine(shown) + " is not UTF-8 text; save it as UTF-8");
    } catch (IOException | InvalidPathException e) {
      throw new IllegalArgumentException(
          Secrets.oneLine(shown)
              + " cannot be read; expected a readable file of settings, at most 1 MB");
    }
  }

  /**
   * The {@code NAME=value} lines of a file such as {@code .env}; the last line of a name wins.
   *
   * @param shown its name in messages
   */
  static Map<String, String> variables(String text, String shown, List<String> warnings) {
    Map<String, String> values = new LinkedHashMap<>();
    int number = 0;
    for (String raw : text.replace("\ufeff", "").split("\r?\n", -1)) {
      number++;
      String line = raw.strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      Matcher form = LINE.matcher(line);
      if (form.matches()) {
        values.put(form.group(1), value(form));
      } else {
        int at = number;
        warn(
            warnings, () -> shown + ":" + at + ": not understood and skipped; expected NAME=value");
      }
    }
    return values;
  }

  /** Adds a warning, unless there are many: a long file would hide the plan. */
  static void warn(List<String> warnings, Supplier<String> line) {
    if (warnings.size() < MAX_WARNINGS) {
      warnings.add(line.get());
    } else if (warnings.size() == MAX_WARNINGS) {
      warnings.add("more LLM_ names or lines of the file have no effect");
    }
  }

  private static String value(Matcher line) {
    if (line.group(2) != null) {
      return ESCAPE.matcher(line.group(2)).replaceAll(ConfigFile::unescaped);
    }
    String quoted = line.group(3);
    return quoted != null ? quoted : Objects.requireNonNullElse(line.group(4), "").strip();
  }

  private static String unescaped(MatchResult escape) {
    String c = escape.group(1);
    return Matcher.quoteReplacement(c.equals("n") ? "\n" : c.equals("t") ? "\t" : c);
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
        var unused = text(file, file);
      }
      return included.parse(context.parseOptions().setAllowMissing(false));
    }
  }
}
