/**
 * The content of a list of checksums after a program was built: its line is new, those of what was made from an older one of
 * it are gone, and so are those of files that are gone.
 * @param list as it was
 * @param program name of the file that was built
 * @param exists whether a file of the list is there
 */
export function renewChecksums(
  list: string,
  program: { readonly name: string; readonly sha256: string },
  exists: (name: string) => boolean,
): string {
  const others = list.split("\n").filter((line) => {
    const name = /^[0-9a-f]{64} {2}(\S+)$/.exec(line)?.[1];
    return name !== undefined && name !== program.name && !name.startsWith(`${program.name}.`) && exists(name);
  });
  return [...others, `${program.sha256}  ${program.name}`].map((line) => `${line}\n`).join("");
}
