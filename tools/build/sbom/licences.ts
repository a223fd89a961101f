import type { Component } from "./document.ts";

/**
 * The identifiers of the SPDX licence list that occur in this product. A new one is added after a person has read the
 * licence, because whoever distributes the product must follow it.
 */
const knownLicences = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "GPL-3.0-or-later",
  "ISC",
  "LGPL-2.0-or-later",
  "LGPL-2.1-or-later",
  "MIT",
  "OFL-1.1",
  "Unlicense",
  "Zlib",
]);

const knownExceptions = new Set(["GCC-exception-3.1"]);

/**
 * Returns a licence in CycloneDX's form.
 * @param expression an SPDX expression of known licences
 * @throws {Error} when it is another text
 */
export function licensed(expression: string): NonNullable<Component["licenses"]> {
  identifiersOf(expression);
  return knownLicences.has(expression) ? [{ license: { id: expression } }] : [{ expression }];
}

/** Returns a licence that has no SPDX expression, in its makers' words. */
export function licensedAs(name: string): NonNullable<Component["licenses"]> {
  return [{ license: { name } }];
}

function identifiersOf(expression: string): string[] {
  const words = expression.match(/[^\s()]+|[()]/g) ?? [];
  const names = words.filter((word) => !/^(AND|OR|WITH|[()])$/.test(word));
  const unknown = names.filter((name) => !knownLicences.has(name) && !knownExceptions.has(name));
  if (unknown.length > 0 || names.length === 0) {
    throw new Error(`"${expression}" is not an expression of known licences; read it, then see knownLicences`);
  }
  return names;
}

/** Returns one SPDX expression for a whole of several components: every expression of theirs, joined by AND. */
export function commonExpression(components: readonly Component[]): string {
  const expressions = components.flatMap(({ licenses = [], components: parts = [] }) => [
    ...licenses.flatMap(expressionOf),
    ...parts.flatMap((part) => (part.licenses ?? []).flatMap(expressionOf)),
  ]);
  return [...new Set(expressions)].sort().join(" AND ");
}

function expressionOf(licence: NonNullable<Component["licenses"]>[number]): string[] {
  if ("license" in licence) return "id" in licence.license ? [licence.license.id] : [];
  const { expression } = licence;
  if (!/ OR /.test(expression)) return expression.split(" AND ");
  return [expression.startsWith("(") ? expression : `(${expression})`];
}
