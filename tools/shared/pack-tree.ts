import { mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runCommand } from "./run-command.ts";

/** A directory with its own mode and owner. */
export interface SpecialDirectory {
  readonly path: string;
  readonly mode: string;
  readonly owner: number;
}

/**
 * Packs a tree with GNU tar, owned by root and without times, so that the same tree gives the same bytes.
 * @param part what of the tree is packed
 */
export async function packTree(archive: string, tree: string, special: readonly SpecialDirectory[] = [], part = ".") {
  const same = ["--format=ustar", "--sort=name", "--mtime=@0", "--numeric-owner", `--directory=${tree}`];
  const excluded = special.map(({ path }) => `--exclude=./${path}`);
  const mode = "--mode=u=rwX,go=rX";
  await runCommand([
    "tar",
    "--create",
    `--file=${archive}`,
    ...same,
    mode,
    "--owner=0",
    "--group=0",
    ...excluded,
    part,
  ]);
  for (const { path, mode, owner } of special) {
    const rights = [`--mode=${mode}`, `--owner=${owner}`, `--group=${owner}`, "--no-recursion"];
    await runCommand(["tar", "--append", `--file=${archive}`, ...same, ...rights, `./${path}`]);
  }
}

/** Packs a tree that `fill` writes into a temporary folder next to the archive. */
export async function packNewTree(
  archive: string,
  fill: (tree: string) => Promise<void>,
  special: readonly SpecialDirectory[] = [],
): Promise<void> {
  const tree = await mkdtemp(join(dirname(archive), ".tree-"));
  try {
    await fill(tree);
    await packTree(archive, tree, special);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}
