import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../shared/checkout.ts";
import type { Component } from "./document.ts";
import { licensed, licensedAs } from "./licences.ts";

/** Returns Bun with the libraries in it. @param sha256 digest of the program before three names in it are overwritten */
export function bunComponent(version: string, sha256: string): Component {
  return {
    ...{ type: "platform", "bom-ref": "bun", name: "Bun", version },
    hashes: [{ alg: "SHA-256", content: sha256 }],
    licenses: licensed("MIT"),
    purl: `pkg:github/oven-sh/bun@bun-v${version}`,
    pedigree: {
      notes: "The names of three environment variables in the program are overwritten, so that it ignores them.",
    },
    externalReferences: [{ url: "https://github.com/oven-sh/bun", type: "vcs" }],
    components: [
      {
        ...{ type: "library", "bom-ref": "bun/webkit", name: "WebKit (JavaScriptCore)" },
        licenses: licensed("LGPL-2.0-or-later"),
        externalReferences: [{ url: "https://github.com/oven-sh/WebKit", type: "vcs" }],
      },
      ...bunLibraries(),
    ],
  };
}

/** SPDX identifiers of the licences in Bun's table of libraries. Other texts there are kept as they are. */
const bunLicences: Readonly<Record<string, string>> = {
  MIT: "MIT",
  "MIT licensed": "MIT",
  "Apache 2.0": "Apache-2.0",
  "Apache 2.0 licensed": "Apache-2.0",
  "BSD 2-Clause": "BSD-2-Clause",
  "BSD 3-Clause": "BSD-3-Clause",
  zlib: "Zlib",
};

/** Returns the libraries in Bun, which its documentation lists without versions. */
function bunLibraries(): NonNullable<Component["components"]> {
  const page = readFileSync(join(root, "node_modules/bun-types/docs/project/license.mdx"), "utf8");
  const table = page.slice(page.indexOf("## Linked libraries"), page.indexOf("## Polyfills"));
  const rows = [...table.matchAll(/^\| \[`([^`]+)`\]\((https:[^)]+)\)([^|]*)\| ([^|]+?) +\|$/gm)];
  if (rows.length < 20) throw new Error("Bun's list of libraries has another form than before");
  return rows
    .filter(([, , , where = ""]) => where.trim() !== "(on Windows)")
    .map(([, name = "", url = "", , licence = ""]) => {
      const words = licence.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
      const known = bunLicences[words];
      return {
        ...{ type: "library" as const, "bom-ref": `bun/${name}`, name },
        licenses: known === undefined ? licensedAs(words) : licensed(known),
        externalReferences: [{ url, type: "website" as const }],
      };
    });
}
