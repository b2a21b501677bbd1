#!/usr/bin/env python3
"""Proves that check.py fails on what it is there for, by planting it in a small tree."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent / "check.py"

# (file, content, what the message must say)
PLANTED = [
    # Upwards, and sideways.
    ("model/a.h", '#include "placement/place.h"', "belongs to placement"),
    ("model/a.h", '#include "api/server.h"', "belongs to api"),
    ("placement/a.cc", '#include "scheduler/decide.h"', "belongs to scheduler"),
    ("scheduler/a.cc", '#include "api/server.h"', "belongs to api"),
    ("scheduler/a.cc", '#include "storage/store.h"', "belongs to storage"),
    ("scheduler/a.cc", '#include "agent/agent.h"', "belongs to agent"),
    ("storage/a.cc", '#include "scheduler/state.h"', "belongs to scheduler"),
    ("storage/sqlite/a.cc", '#include "api/net.h"', "belongs to api"),
    ("agent/a.cc", '#include "placement/place.h"', "belongs to placement"),
    ("agent/docker/a.cc", '#include "api/net.h"', "belongs to api"),
    ("api/actions/a.cc", '#include "agent/agent.h"', "belongs to agent"),
    ("api/a.cc", '#include "cli/main.h"', "belongs to cli"),
    ("model/deep/down/a.cc", '#include "scheduler/decide.h"', "belongs to scheduler"),
    # However it is written.
    ("model/a.h", '  #  include   "api/server.h"', "belongs to api"),
    ("model/a.h", "#include <api/server.h>", "belongs to api"),
    ("model/a.h", '/* why */ \n#include "api/server.h"  // because', "belongs to api"),
    # What the core may not use.
    ("model/a.cc", "#include <rapidjson/document.h>", "JSON belongs to"),
    ("placement/a.cc", '#include "rapidjson/writer.h"', "JSON belongs to"),
    ("scheduler/a.cc", "#include <boost/asio.hpp>", "networking belongs to"),
    ("scheduler/a.cc", "#include <boost/asio/io_context.hpp>", "networking belongs to"),
    ("scheduler/a.cc", "#include <boost/beast/core.hpp>", "HTTP belongs to"),
    ("model/a.cc", "#include <sqlite3.h>", "SQLite belongs to"),
    ("model/a.cc", "#include <spdlog/spdlog.h>", "logging belongs to"),
    ("scheduler/a.cc", "#include <thread>", "a thread belongs to"),
    ("scheduler/a.cc", "#include <mutex>", "a lock belongs to"),
    ("scheduler/a.cc", '#include "absl/synchronization/mutex.h"', "a lock belongs to"),
    ("model/a.cc", "#include <fstream>", "file I/O belongs to"),
    ("model/a.cc", "#include <iostream>", "I/O belongs to"),
    ("model/a.cc", "#include <random>", "randomness belongs to"),
    ("placement/rng.h", "#include <random>", "randomness belongs to"),
    ("scheduler/a.cc", "absl::Time t = absl::Now();", "uses Now("),
    ("scheduler/a.cc", "auto t = clock.Now ();", "uses Now("),
    ("scheduler/a.cc", "std::chrono::system_clock::now();", "uses system_clock"),
    ("placement/a.cc", "using Clock = std::chrono::steady_clock;", "uses steady_clock"),
    ("model/a.cc", "std::random_device device;", "uses random_device"),
    ("model/a.cc", "absl::BitGen gen;", "uses BitGen"),
    ("model/a.cc", 'std::getenv("HOME");', "uses getenv"),
    # Comments and strings are cut out, and nothing behind them.
    ("model/a.cc", 'char c = \'"\'; absl::Now(); char d = \'"\';', "uses Now("),
    ("model/a.cc", "int n = 1'000; absl::Now(); int m = 2'000;", "uses Now("),
    ("model/a.cc", 'auto s = "//"; absl::Now();', "uses Now("),
    ("model/a.cc", 'auto s = R"(")"; absl::Now(); auto t = "";', "uses Now("),
    ("model/a.cc", "/* // */ absl::Now();", "uses Now("),
    # SQLite has one home.
    ("storage/a.cc", "#include <sqlite3.h>", "storage/sqlite and nowhere else"),
    ("api/a.cc", "#include <sqlite3.h>", "storage/sqlite and nowhere else"),
]

# (file, content): what must pass.
INNOCENT = [
    ("scheduler/a.cc", '#include "placement/place.h"\n#include "model/task.h"'),
    ("api/a.cc", '#include "storage/store.h"\n#include "scheduler/decide.h"'),
    ("cli/a.cc", '#include "agent/agent.h"\n#include "api/server.h"\n#include <thread>'),
    ("storage/sqlite/a.cc", "#include <sqlite3.h>"),
    ("agent/a.cc", "#include <boost/asio.hpp>\n#include <thread>\nabsl::Now();"),
    ("model/rng.h", "#include <random>"),
    ("model/a.cc", '// #include "api/server.h"'),
    ("model/a.cc", '/*\n#include "api/server.h"\nabsl::Now();\n*/'),
    ("model/a.cc", "// absl::Now() is for the edges; so is system_clock."),
    ("model/a.cc", "// a comment that goes on \\\n absl::Now();"),
    ("model/a.cc", 'auto text = "getenv, BitGen and absl::Now() \\" random_device";'),
    ("model/a.cc", 'auto text = R"x(absl::Now() ")" steady_clock)x";'),
    ("model/a.cc", 'auto text = R"(\n#include "api/server.h"\n)";'),
    ("model/a.cc", "void RunNow(); bool known = Know(1);"),
    ("model/a.cc", '#include "model/random_ids.h"\n#include "threading.h"'),
    ("model/notes.md", '#include "api/server.h"'),
    ("tests/model/a.cc", '#include "api/server.h"'),
]


class CheckTest(unittest.TestCase):
    def run_check(self, files):
        with tempfile.TemporaryDirectory() as root:
            for name, content in files:
                path = Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content + "\n", encoding="utf-8")
            return subprocess.run(
                [sys.executable, str(CHECK), root], capture_output=True, text=True, check=False
            )

    def test_a_planted_violation_fails_and_is_named_with_its_file(self):
        for name, content, message in PLANTED:
            with self.subTest(file=name, content=content):
                result = self.run_check([("model/fine.h", "#pragma once"), (name, content)])
                self.assertEqual(result.returncode, 1, result.stdout)
                self.assertIn(message, result.stdout)
                self.assertIn(f"{name}:", result.stdout)
                self.assertIn(" 1 violations", result.stdout)

    def test_what_only_looks_like_one_passes(self):
        for name, content in INNOCENT:
            with self.subTest(file=name, content=content):
                result = self.run_check([("model/fine.h", "#pragma once"), (name, content)])
                self.assertEqual(result.returncode, 0, result.stdout)

    def test_the_line_is_right_behind_comments_and_strings_of_several_lines(self):
        source = '/* one\ntwo */\nauto s = R"(\n\n)";\n#include <mutex>\nabsl::Now();'
        result = self.run_check([("model/a.cc", source)])
        self.assertIn("model/a.cc:6: includes <mutex>", result.stdout)
        self.assertIn("model/a.cc:7: uses Now(", result.stdout)

    def test_every_violation_is_listed(self):
        result = self.run_check(
            [("model/a.cc", "#include <mutex>\n#include <thread>"), ("placement/b.cc", "getenv")]
        )
        self.assertEqual(result.returncode, 1)
        self.assertIn(" 3 violations", result.stdout)

    def test_two_headers_may_not_define_one_name(self):
        one = "namespace berth::model {\nstruct A {\n};\n}"
        result = self.run_check([("model/a.h", one), ("model/b.h", one)])
        self.assertEqual(result.returncode, 1)
        self.assertIn("model/b.h:2: defines berth::model::A, which model/a.h:2", result.stdout)
        other = "namespace berth::placement {\nstruct A {\n  struct B {};\n};\nstruct A::C {\n};\n}"
        result = self.run_check([("model/a.h", one), ("placement/a.h", other)])
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_an_empty_tree_is_an_error_and_not_a_pass(self):
        result = self.run_check([("docs/a.md", "nothing")])
        self.assertEqual(result.returncode, 2)
        self.assertIn("no C++ file", result.stderr)

    def test_without_a_root_it_says_how_it_is_used(self):
        result = subprocess.run(
            [sys.executable, str(CHECK)], capture_output=True, text=True, check=False
        )
        self.assertEqual(result.returncode, 2)
        self.assertIn("usage", result.stderr)


if __name__ == "__main__":
    unittest.main()
