#!/usr/bin/env python3
"""Checks that imports point one way, that the core stays pure, and that no name is given twice.

usage: check.py REPOSITORY_ROOT

Reads every C++ file of the folders below. Prints one line for each violation, saying where the thing
belongs, and ends with 1 if there is one, with 2 if there is nothing to check.
"""

import re
import sys
from pathlib import Path

# What each folder may include besides itself. Arrows point one way:
# model <- placement <- scheduler <- api, with storage on model alone, auth and transport for api and
# agent.
ALLOWED = {
    "model": set(),
    "placement": {"model"},
    "scheduler": {"placement", "model"},
    "storage": {"model"},
    "auth": {"model"},
    "transport": set(),
    "agent": {"model", "auth", "transport"},
    "api": {"auth", "transport", "scheduler", "placement", "model", "storage"},
    "simulator": {"api", "scheduler", "placement", "model", "storage", "agent", "auth", "transport"},
    "cli": {"api", "auth", "transport", "scheduler", "placement", "model", "storage", "agent", "simulator"},
}

# The core: no I/O, clock, thread, randomness, JSON or logging.
PURE = ("model", "placement", "scheduler")

# (start of an included path, what it is, where it belongs instead of the core)
IMPURE_INCLUDES = [
    ("rapidjson/", "JSON", "api, agent or storage"),
    ("boost/asio", "networking", "api or agent"),
    ("boost/beast", "HTTP", "api or agent"),
    ("sqlite3.h", "SQLite", "storage/sqlite"),
    ("openssl/", "cryptography", "api or agent"),
    ("spdlog", "logging", "api, agent or cli; the core returns reasons"),
    ("thread", "a thread", "api, agent or cli"),
    ("mutex", "a lock", "api, agent or storage"),
    ("shared_mutex", "a lock", "api, agent or storage"),
    ("condition_variable", "a lock", "api, agent or storage"),
    ("absl/synchronization/", "a lock", "api, agent or storage"),
    ("future", "a thread", "api, agent or cli"),
    ("chrono", "a clock", "api, agent or cli; in the core time is an absl::Time argument"),
    ("fstream", "file I/O", "storage, agent or cli"),
    ("filesystem", "file I/O", "storage, agent or cli"),
    ("iostream", "I/O", "cli"),
    ("random", "randomness", "model/rng.h, and in the core it is an Rng& argument"),
    ("absl/random/", "randomness", "model/rng.h, and in the core it is an Rng& argument"),
    ("unistd.h", "the operating system", "api, agent or cli"),
    ("sys/", "the operating system", "api, agent or cli"),
]
IMPURE_INCLUDES_EXCEPT = {("model/rng.h", "random")}

CLOCK = "api, agent or cli; in the core time is an absl::Time argument"
RANDOM = "whoever seeds model/rng.h; in the core randomness is an Rng& argument"
IMPURE_WORDS = [
    (re.compile(r"\bNow\s*\("), "Now(", CLOCK),
    (re.compile(r"\bsystem_clock\b"), "system_clock", CLOCK),
    (re.compile(r"\bsteady_clock\b"), "steady_clock", CLOCK),
    (re.compile(r"\bhigh_resolution_clock\b"), "high_resolution_clock", CLOCK),
    (re.compile(r"\brandom_device\b"), "random_device", RANDOM),
    (re.compile(r"\bBitGen\b"), "BitGen", RANDOM),
    (re.compile(r"\bgetenv\b"), "getenv", "cli; in the core settings are arguments"),
]

SUFFIXES = {".h", ".cc"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
# A comment, a raw string, a string, or a character (but not the ' of 1'000).
TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z))"""
    r'''|(?P<raw>\bR"(?P<end>[^()\\\s]*)\(.*?\)(?P=end)")'''
    r'''|(?P<text>"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])*')''',
    re.DOTALL,
)


NAMESPACE = re.compile(r"^namespace (berth[\w:]*) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class|enum class) ([\w:]+)\b(?!\s*<)[^;{}]*\{", re.MULTILINE)


def blank(text):
    """As many lines, nothing else on them."""
    return "\n" * text.count("\n")


def strip(source):
    """The source without comments and raw strings; and without any strings."""
    without_comments = TOKEN.sub(
        lambda m: m.group() if m.group("text") else " " + blank(m.group()), source
    )
    without_strings = TOKEN.sub(lambda m: '""' + blank(m.group()), without_comments)
    return without_comments, without_strings


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def starts_with_word(path, start):
    """Whether the path is `start`, or goes on after it with '/' or '.'."""
    if start.endswith("/") or start.endswith(".h"):
        return path == start or (start.endswith("/") and path.startswith(start))
    return path == start or path.startswith((start + "/", start + "."))


def include_violations(path, folder, included):
    target = included.split("/", 1)[0]
    if "/" in included and target in ALLOWED and target != folder:
        if target not in ALLOWED[folder]:
            may = ", ".join(sorted(ALLOWED[folder])) or "nothing but itself"
            yield (
                f'includes "{included}", which belongs to {target}: '
                f"{folder} may use {may}; move the code to {target}, or the thing it needs down"
            )
    in_core = folder in PURE
    for start, what, home in IMPURE_INCLUDES:
        if not starts_with_word(included, start) or (path, start) in IMPURE_INCLUDES_EXCEPT:
            continue
        if in_core:
            yield f"includes <{included}>: {what} belongs to {home}, not to {folder}"
    if not in_core and included == "sqlite3.h" and not path.startswith("storage/sqlite/"):
        yield f"includes <{included}>: SQLite belongs to storage/sqlite and nowhere else"


def file_violations(path, source):
    folder = path.split("/", 1)[0]
    code, bare = strip(source)
    for match in INCLUDE.finditer(code):
        for violation in include_violations(path, folder, match.group(1) or match.group(2)):
            yield line_of(code, match.start(0)), violation
    if folder in PURE:
        for pattern, word, home in IMPURE_WORDS:
            for match in pattern.finditer(bare):
                yield line_of(bare, match.start()), f"uses {word}, which belongs to {home}"


def types_of(source):
    """(line, namespace and name) of each type that a header defines outside of others."""
    _, bare = strip(source)
    opened = [(match.start(), match.group(1)) for match in NAMESPACE.finditer(bare)]
    for match in TYPE.finditer(bare):
        within = [name for start, name in opened if start < match.start()]
        if within:
            yield line_of(bare, match.start()), f"{within[-1]}::{match.group(1)}"


def name_violations(path, source, known):
    """Two types of one name make one program of two halves that disagree, and no linker says so."""
    for line, name in types_of(source):
        first = known.setdefault(name, f"{path}:{line}")
        if first != f"{path}:{line}":
            yield line, f"defines {name}, which {first} defines as well; give one another name"


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = Path(arguments[1])
    files = sorted(
        file
        for folder in ALLOWED
        for file in (root / folder).rglob("*")
        if file.suffix in SUFFIXES and file.is_file()
    )
    if not files:
        print(f"no C++ file in any of {', '.join(ALLOWED)} under {root}", file=sys.stderr)
        return 2

    found = 0
    known = {}
    for file in files:
        path = file.relative_to(root).as_posix()
        source = file.read_text(encoding="utf-8", errors="replace")
        violations = list(file_violations(path, source))
        if file.suffix == ".h":
            violations += name_violations(path, source, known)
        for line, violation in sorted(violations):
            print(f"{path}:{line}: {violation}")
            found += 1
    print(f"layering: {len(files)} files, {found} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
