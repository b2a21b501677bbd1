// What the installed AWS SDK for JavaScript knows of a request: its members from the package's schemas,
// and the words that a member may have from the package's types, since schemas do not hold them.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { NormalizedSchema } from "@smithy/core/schema";
import * as sdk from "@aws-sdk/client-ecs";

const models = join(
  dirname(fileURLToPath(import.meta.resolve("@aws-sdk/client-ecs"))), "../dist-types/models",
);

// "ContainerDefinition" -> { logConfiguration: "LogConfiguration", ... }: each member's type by name.
function readTypes() {
  const types = {};
  for (const file of readdirSync(models).filter((name) => name.endsWith(".d.ts"))) {
    let members;
    for (const line of readFileSync(join(models, file), "utf8").split("\n")) {
      const begun = /^export (?:interface|class) (\w+)/.exec(line);
      if (begun) members = types[begun[1]] = {};
      const member = /^ {4}(\w+)\??: (\w+)(?:\[\])? \| undefined;$/.exec(line);
      if (member && members) members[member[1]] = member[2];
    }
  }
  return types;
}

const types = readTypes();

function structure(schema, typeName) {
  const members = [];
  for (const [name, member] of schema.structIterator()) {
    members.push({ name, ...node(member, types[typeName]?.[name]) });
  }
  return { kind: "structure", members };
}

// One node of the tree: kind is structure, list, map, string, number or boolean; a string may have words.
function node(schema, typeName) {
  if (schema.isUnionSchema() || schema.isStructSchema()) {
    return structure(schema, schema.getName().replace(/\$$/, ""));
  }
  if (schema.isListSchema()) return { kind: "list", element: node(schema.getValueSchema(), typeName) };
  if (schema.isMapSchema()) return { kind: "map" };
  if (schema.isNumericSchema()) return { kind: "number" };
  if (schema.isBooleanSchema()) return { kind: "boolean" };
  if (!schema.isStringSchema()) throw new Error(`a schema of a new kind: ${schema.getName(true)}`);
  const words = sdk[typeName];
  return { kind: "string", words: words ? Object.values(words) : undefined };
}

// The tree of the structure of that name, such as RegisterTaskDefinitionRequest.
export function treeOf(name) {
  return structure(NormalizedSchema.of(sdk[`${name}$`]), name);
}

// Every member below the node as a path, "containerDefinitions[].logConfiguration.logDriver", and every
// word that one may have, "networkMode=host".
export function pointsOf(tree, path = "") {
  if (tree.kind === "list") return pointsOf(tree.element, `${path}[]`);
  if (tree.kind === "structure") {
    return tree.members.flatMap((member) => {
      const below = path ? `${path}.${member.name}` : member.name;
      return [below, ...pointsOf(member, below)];
    });
  }
  return (tree.words ?? []).map((word) => `${path}=${word}`);
}

// Those of the points that the value has.
export function pointsIn(value, tree, path = "") {
  if (tree.kind === "list") return value.flatMap((e) => pointsIn(e, tree.element, `${path}[]`));
  if (tree.kind === "structure") {
    return tree.members.flatMap((member) => {
      if (value[member.name] === undefined) return [];
      const below = path ? `${path}.${member.name}` : member.name;
      return [below, ...pointsIn(value[member.name], member, below)];
    });
  }
  return tree.words ? [`${path}=${value}`] : [];
}
