// Queries against an oracle: a random tree is written down in a random way of spelling and spacing,
// and evaluated in the obvious one. The two share nothing but the grammar.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "model/rng.h"
#include "query_facts.h"

namespace berth::placement {
namespace {

using model::Rng;

struct Tree {
  std::string kind = {};  // "or", "and", "not", "test"
  std::vector<Tree> children = {};
  std::string subject = {};
  std::string op = {};  // the symbol: "==", "!in", "exists", ...
  std::vector<std::string> values = {};
};

const std::vector<std::string> kTexts = {"",     "a",   "b",     "ab",          "a.b", "a b",
                                         "it's", "(x)", "[a],b", "service:web", "db",  "true"};
const std::vector<std::string> kPatterns = {".*", "a.*", "a|b", "[ab]+", "a.b", "(a|it).*", "\\w*"};
const std::vector<std::string> kVersions = {"1", "1.2", "1.2.0", "1.10", "2.0.1", "0"};
const std::vector<std::pair<std::string, int64_t>> kMoments = {
    {"2018-06-18", 1529280000},          {"2018-06-18T22:28:28Z", 1529360908},
    {"2018-06-18T22:28:28", 1529360908}, {"2018-06-18T22:28:28+00:00", 1529360908},
    {"1970-01-01T00:00:01+00:00", 1},    {"2018-06-18T22:28:29.25Z", 1529360909}};

template <class T>
const T& Pick(Rng& rng, const std::vector<T>& from) {
  return from[rng.Below(from.size())];
}

// --- making ------------------------------------------------------------------------------------

Tree RandomTest(Rng& rng) {
  static const std::vector<std::string> kSubjects = {
      "attribute:a",   "attribute:b.c", "attribute:d/e-f_g\\h", "agentConnected", "agentVersion",
      "ec2InstanceId", "registeredAt",  "runningTasksCount",    "task:group"};
  static const std::vector<std::string> kOrder = {"==", "!=", ">", ">=", "<", "<="};
  static const std::vector<std::string> kText = {"==", "!=", "=~", "!~", "in", "!in"};
  static const std::vector<std::string> kAll = {
      "==", "!=", ">", ">=", "<", "<=", "=~", "!~", "in", "!in", "exists", "!exists"};
  Tree test{.kind = "test", .subject = Pick(rng, kSubjects)};
  const bool is_attribute = test.subject.starts_with("attribute:");
  const bool is_text = test.subject == "agentConnected" || test.subject == "ec2InstanceId" ||
                       test.subject == "task:group";
  test.op = Pick(rng, is_attribute ? kAll : is_text ? kText : kOrder);
  if (test.op == "exists" || test.op == "!exists") return test;
  const auto value = [&]() -> std::string {
    if (test.op == "=~" || test.op == "!~") return Pick(rng, kPatterns);
    if (test.subject == "agentVersion") return Pick(rng, kVersions);
    if (test.subject == "registeredAt") return Pick(rng, kMoments).first;
    if (test.subject == "runningTasksCount") return std::to_string(rng.Below(4));
    return Pick(rng, kTexts);
  };
  const uint64_t count = test.op == "in" || test.op == "!in" ? 1 + rng.Below(3) : 1;
  for (uint64_t i = 0; i < count; ++i) test.values.push_back(value());
  return test;
}

Tree RandomTree(Rng& rng, int depth) {
  const uint64_t dice = depth == 0 ? 9 : rng.Below(10);
  if (dice >= 6) return RandomTest(rng);
  Tree tree{.kind = dice < 2 ? "or" : dice < 4 ? "and" : "not"};
  const uint64_t count = tree.kind == "not" ? 1 : 2 + rng.Below(2);
  for (uint64_t i = 0; i < count; ++i) tree.children.push_back(RandomTree(rng, depth - 1));
  return tree;
}

Facts RandomFacts(Rng& rng) {
  static const std::vector<std::string> kReported = {"", "1.2.0", "1.10", "v1.2.3-x", "2", "dev"};
  Facts facts{.connected = rng.Below(2) == 0,
              .agent_version = Pick(rng, kReported),
              .ec2_instance_id = Pick(rng, kTexts),
              .registered_at = absl::FromUnixMillis(Pick(rng, kMoments).second * 1000 +
                                                    static_cast<int64_t>(rng.Below(1000))),
              .running_tasks = static_cast<int64_t>(rng.Below(4))};
  for (const char* name : {"a", "b.c", "d/e-f_g\\h"}) {
    const uint64_t dice = rng.Below(4);
    if (dice == 0) continue;
    facts.attributes[name] = dice == 1 ? std::nullopt : std::optional(Pick(rng, kTexts));
  }
  for (uint64_t i = rng.Below(3); i > 0; --i) facts.groups.push_back(Pick(rng, kTexts));
  return facts;
}

// --- writing -----------------------------------------------------------------------------------

std::string Blanks(Rng& rng, uint64_t least) {
  std::string blanks;
  for (uint64_t i = least + (rng.Below(3) == 0 ? 1 + rng.Below(2) : 0); i > 0; --i) {
    blanks += " \t\n "[rng.Below(4)];
  }
  return blanks;
}

bool IsWord(const std::string& spelling) {
  return spelling.back() >= 'a' && spelling.back() <= 'z';
}

std::string Spelled(Rng& rng, const std::string& symbol) {
  static const std::map<std::string, std::string> kWords = {
      {"==", "equals"},      {"!=", "not_equals"},
      {">", "greater_than"}, {">=", "greater_than_equal"},
      {"<", "less_than"},    {"<=", "less_than_equal"},
      {"=~", "matches"},     {"!~", "not_matches"},
      {"!in", "not_in"},     {"!exists", "not_exists"},
      {"&&", "and"},         {"||", "or"},
      {"!", "not"}};
  const auto word = kWords.find(symbol);
  return word == kWords.end() || rng.Below(2) == 0 ? symbol : word->second;
}

std::string Quoted(Rng& rng, const std::string& value) {
  const bool needs = value.empty() || value.find_first_of(" \t\n,])(['\"") != std::string::npos;
  if (!needs && rng.Below(2) == 0) return value;
  const bool has_single = value.find('\'') != std::string::npos;
  const char quote = has_single || rng.Below(2) == 0 ? '"' : '\'';
  return quote + value + quote;
}

std::string Write(Rng& rng, const Tree& tree);

// In parentheses where it would read otherwise without, and sometimes where not.
std::string Inside(Rng& rng, const Tree& child, const std::string& parent) {
  const bool needs = (parent == "and" && child.kind == "or") ||
                     (parent == "not" && (child.kind == "or" || child.kind == "and"));
  if (!needs && rng.Below(4) != 0) return Write(rng, child);
  return "(" + Blanks(rng, 0) + Write(rng, child) + Blanks(rng, 0) + ")";
}

std::string WriteTest(Rng& rng, const Tree& test) {
  const std::string op = Spelled(rng, test.op);
  // `!in` begins with no letter, so it may follow a name at once.
  const bool begins_with_letter = op[0] >= 'a' && op[0] <= 'z';
  std::string text = test.subject + Blanks(rng, begins_with_letter ? 1 : 0) + op;
  if (test.values.empty()) return text;
  if (test.op == "in" || test.op == "!in") {
    text += Blanks(rng, 0) + "[";
    for (size_t i = 0; i < test.values.size(); ++i) {
      text += (i == 0 ? "" : ",") + Blanks(rng, 0) + Quoted(rng, test.values[i]) + Blanks(rng, 0);
    }
    return text + "]";
  }
  const std::string value = Quoted(rng, test.values[0]);
  const bool is_quoted = value[0] == '\'' || value[0] == '"';
  return text + Blanks(rng, IsWord(op) && !is_quoted ? 1 : 0) + value;
}

std::string Write(Rng& rng, const Tree& tree) {
  if (tree.kind == "test") return WriteTest(rng, tree);
  if (tree.kind == "not") {
    const std::string op = Spelled(rng, "!");
    const std::string inside = Inside(rng, tree.children[0], "not");
    return op + Blanks(rng, op == "not" && inside[0] != '(' ? 1 : 0) + inside;
  }
  std::string text;
  for (size_t i = 0; i < tree.children.size(); ++i) {
    const std::string next = Inside(rng, tree.children[i], tree.kind);
    if (i > 0) {
      const std::string op = Spelled(rng, tree.kind == "and" ? "&&" : "||");
      const bool ends_apart = std::string(")]'\"").find(text.back()) != std::string::npos;
      text += Blanks(rng, ends_apart ? 0 : 1) + op;
      text += Blanks(rng, IsWord(op) && next[0] != '(' ? 1 : 0);
    }
    text += next;
  }
  return text;
}

// --- evaluating --------------------------------------------------------------------------------

bool InOrder(const std::string& op, int order) {
  if (op == "==") return order == 0;
  if (op == "!=") return order != 0;
  if (op == ">") return order > 0;
  if (op == ">=") return order >= 0;
  if (op == "<") return order < 0;
  return order <= 0;
}

bool OfText(const Tree& test, const std::string& value) {
  const std::vector<std::string>& values = test.values;
  const bool is_in = std::find(values.begin(), values.end(), value) != values.end();
  if (test.op == "exists") return true;
  if (test.op == "!exists") return false;
  if (test.op == "in") return is_in;
  if (test.op == "!in") return !is_in;
  if (test.op == "=~" || test.op == "!~") {
    static std::map<std::string, std::regex> compiled;
    const auto pattern = compiled.try_emplace(values[0], values[0]).first;
    return std::regex_match(value, pattern->second) == (test.op == "=~");
  }
  return InOrder(test.op, value.compare(values[0]));
}

// The versions here have at most three small numbers.
bool ReadVersion(const std::string& text, int64_t& number) {
  int parts[3] = {0, 0, 0};
  const char* begin = text.c_str() + (text[0] == 'v' ? 1 : 0);
  if (std::sscanf(begin, "%d.%d.%d", &parts[0], &parts[1], &parts[2]) < 1) return false;
  number = (parts[0] * 1000 + parts[1]) * 1000 + parts[2];
  return true;
}

int Sign(int64_t difference) { return difference < 0 ? -1 : difference > 0 ? 1 : 0; }

bool OfTest(const Tree& test, const Facts& facts) {
  if (test.subject.starts_with("attribute:")) {
    const auto attribute = facts.attributes.find(test.subject.substr(10));
    if (attribute == facts.attributes.end()) return test.op == "!exists";
    return OfText(test, attribute->second.value_or(""));
  }
  if (test.subject == "agentConnected") return OfText(test, facts.connected ? "true" : "false");
  if (test.subject == "ec2InstanceId") return OfText(test, facts.ec2_instance_id);
  if (test.subject == "runningTasksCount") {
    return InOrder(test.op, Sign(facts.running_tasks - std::stoll(test.values[0])));
  }
  if (test.subject == "agentVersion") {
    int64_t has = 0;
    int64_t asked = 0;
    if (!ReadVersion(facts.agent_version, has)) return false;
    ReadVersion(test.values[0], asked);
    return InOrder(test.op, Sign(has - asked));
  }
  if (test.subject == "registeredAt") {
    for (const auto& [text, seconds] : kMoments) {
      if (text != test.values[0]) continue;
      return InOrder(test.op, Sign(absl::ToUnixMillis(facts.registered_at) / 1000 - seconds));
    }
    return false;
  }
  for (const std::string& group : facts.groups) {
    if (OfText(test, group)) return true;
  }
  return false;
}

bool Evaluate(const Tree& tree, const Facts& facts) {
  if (tree.kind == "test") return OfTest(tree, facts);
  if (tree.kind == "not") return !Evaluate(tree.children[0], facts);
  bool any = false;
  bool all = true;
  for (const Tree& child : tree.children) {
    const bool holds = Evaluate(child, facts);
    any |= holds;
    all &= holds;
  }
  return tree.kind == "or" ? any : all;
}

TEST_CASE("a hundred thousand queries mean what they say", "[query]") {
  constexpr int kQueries = 100'000;
  int matched = 0;
  Rng rng(5);
  for (int i = 0; i < kQueries; ++i) {
    const Tree tree = RandomTree(rng, 3);
    const Facts facts = RandomFacts(rng);
    const std::string text = Blanks(rng, 0) + Write(rng, tree) + Blanks(rng, 0);

    const auto query = Query::Compile(text);

    if (!query.ok()) FAIL(query.status().ToString());
    const bool expected = Evaluate(tree, facts);
    if ((*query)->Matches(FakeInstance(facts)) != expected) {
      FAIL(text << " should be " << expected);
    }
    matched += expected ? 1 : 0;
  }
  // A walk that only ever finds the one or the other would prove little.
  CHECK(matched > kQueries / 5);
  CHECK(matched < kQueries * 4 / 5);
}

// What is damaged in one place is refused, or means something; it never takes the reader down.
TEST_CASE("damaged queries are read or refused", "[query]") {
  int refused = 0;
  Rng rng(6);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = Write(rng, RandomTree(rng, 3));
    const size_t place = rng.Below(text.size());
    switch (rng.Below(3)) {
      case 0:
        text.erase(place, 1 + rng.Below(3));
        break;
      case 1:
        text[place] = "()[],'\" =!~&|ax*\\\x80"[rng.Below(18)];
        break;
      default:
        text.insert(place, std::string(1, "()[],'\" =!~&|ax*\\\xC3"[rng.Below(18)]));
    }
    const auto query = Query::Compile(text);
    if (query.ok()) {
      const Facts facts = RandomFacts(rng);
      (void)(*query)->Matches(FakeInstance(facts));
    } else {
      ++refused;
    }
  }
  CHECK(refused > 5000);
}

}  // namespace
}  // namespace berth::placement
