// Task definitions out of the SDK's own tree of members and the rules of definition_rules.mjs.
import { RULES } from "./definition_rules.mjs";

// Makes right definitions; prefers words that `seen` lacks, so that a few rounds show all of them.
export class Generator {
  #tree;
  #seen;
  #number = 0;

  constructor(tree, seen) {
    this.#tree = tree;
    this.#seen = seen;
  }

  // One definition of the kind. Strings and numbers differ from each other, and descend within a
  // list, so that whoever mixes them up or sorts them is found out.
  make(kind, family) {
    this.definition = { ...kind, family };
    return this.#structure(this.#tree, "", {});
  }

  #next = () => 9999 - (this.#number++ % 9000);

  #structure(tree, path, place, without = []) {
    const value = {};
    for (const member of tree.members) {
      if (without.includes(member.name)) continue;
      const below = path ? `${path}.${member.name}` : member.name;
      const made = this.#value(member, below, place);
      if (made !== undefined) value[member.name] = made;
    }
    return value;
  }

  #value(tree, path, place) {
    const rule = RULES[path] ?? {};
    const here = { ...place, next: this.#next };
    if (rule.when && !rule.when(this.definition, here)) return undefined;
    if (rule.value) return rule.value(this.definition, here);
    switch (tree.kind) {
      case "structure": return this.#structure(tree, path, place);
      case "list": return this.#list(tree.element, `${path}[]`, place, rule.length ?? 2);
      case "map": return { [`z${this.#next()}`]: "1", [`a${this.#next()}`]: "" };
      case "number": return this.#next();
      case "boolean": return this.#number++ % 2 === 0;
      default: return tree.words ? this.#word(tree.words, path) : `text ${this.#next()}`;
    }
  }

  #list(element, path, place, length) {
    const rule = RULES[path];
    const placeOf = (index) => ({
      ...place, index, container: path === "containerDefinitions[]" ? index : place.container,
    });
    if (rule?.alternatives) {
      const all = rule.alternatives.flat();
      return rule.alternatives
        .filter((members) => members.every((m) => rule.allowed?.(m, this.definition) ?? true))
        .map((members, index) => this.#structure(
          element, path, placeOf(index), all.filter((m) => !members.includes(m)),
        ));
    }
    return Array.from({ length }, (_, index) => this.#value(element, path, placeOf(index)));
  }

  #word(words, path) {
    const allowed = words.filter((w) => RULES[path]?.allowed?.(w, this.definition) ?? true);
    const fresh = allowed.find((word) => !this.#seen.has(`${path}=${word}`));
    const word = fresh ?? allowed[this.#number++ % allowed.length];
    this.#seen.add(`${path}=${word}`);
    return word;
  }
}
