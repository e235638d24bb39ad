"""Hook of MkDocs: pages mean what they mean on GitHub, where lists need no empty line and links reach all files."""
import html
import re

FENCE = re.compile(r"^\s*```")
ITEM = re.compile(r"^([-*]|\d+\.) ")
OUTSIDE = re.compile(r"\]\(\.\./([^)\s]+)\)")
SPAN = re.compile(r"(`+)(.+?)\1")


def in_table(span):
    """A code span with an escaped bar, which Python-Markdown would show with its backslash."""
    text = span.group(2)
    return "<code>" + html.escape(text).replace("\\|", "&#124;") + "</code>" if "\\|" in text else span.group(0)


def on_page_markdown(markdown, page, config, files):
    tree = f"]({config['repo_url']}/blob/main/"
    lines = []
    is_code = False
    is_list = False
    for line in markdown.split("\n"):
        is_fence = bool(FENCE.match(line))
        is_code ^= is_fence
        if not is_code and not is_fence:
            line = OUTSIDE.sub(lambda link: f"{tree}{link.group(1)})", line)
            line = SPAN.sub(in_table, line).replace("\\<", "&lt;")
            if ITEM.match(line) and not is_list and lines and lines[-1]:
                lines.append("")
            is_list = bool(ITEM.match(line)) or (is_list and line.startswith(" "))
            if is_list and line.startswith("  "):
                line = "    " + line.lstrip()
        lines.append(line)
    return "\n".join(lines)
