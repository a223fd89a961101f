import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { root } from "../../shared/checkout.ts";
import type { InstalledPackage } from "../package-notices.ts";
import type { Component } from "./document.ts";
import { licensed } from "./licences.ts";

/** The digest of a package's archive, as the lock file has it. */
export type Integrity = ReadonlyMap<string, string>;

const lockSchema = Type.Object({ packages: Type.Record(Type.String(), Type.Array(Type.Unknown(), { minItems: 1 })) });

/** Reads the digests of the packages' archives from bun.lock. @returns SHA-512 in hexadecimal by `name@version` */
export function readIntegrity(lock: string): Integrity {
  const { packages } = Value.Parse(lockSchema, Bun.JSONC.parse(lock));
  const found = Object.values(packages).flatMap((entry): [string, string][] => {
    const [id] = entry;
    const digest = /^sha512-([0-9A-Za-z+/]{86}==)$/.exec(String(entry.at(-1)))?.[1];
    return typeof id === "string" && digest !== undefined ? [[id, Buffer.from(digest, "base64").toString("hex")]] : [];
  });
  return new Map(found);
}

export async function checkoutIntegrity(): Promise<Integrity> {
  return readIntegrity(await Bun.file(join(root, "bun.lock")).text());
}

/** Returns the package URL of an npm package. The `@` of a scope is encoded, as its specification demands. */
export function npmReference(name: string, version: string): string {
  return `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
}

/**
 * Returns an npm package as a component, with the digest of its archive.
 * @throws {Error} when the lock file has no digest of it, or its licence is unknown
 */
export function npmComponent({ name, version, licence }: InstalledPackage, integrity: Integrity): Component {
  const sha512 = integrity.get(`${name}@${version}`);
  if (sha512 === undefined) throw new Error(`bun.lock has no digest of ${name}@${version}`);
  if (licence === undefined) throw new Error(`the package ${name} declares no licence`);
  const reference = npmReference(name, version);
  return {
    type: "library",
    "bom-ref": reference,
    name,
    version,
    hashes: [{ alg: "SHA-512", content: sha512 }],
    licenses: licensed(licence),
    purl: reference,
  };
}
