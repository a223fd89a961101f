import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type DebianPackages, unpackDebianPackages } from "./debian-packages.ts";

/**
 * What Vulkan's part is built with: the shader compiler and headers of Debian 13, since those of Debian 12 know nothing of
 * cooperative matrices, which GPUs multiply with. The compiler brings along the C library that it was made for.
 */
export const shaderCompilerPackages: DebianPackages = {
  suite: "trixie",
  packages: [
    ...["glslc=2025.2-1", "libshaderc1=2025.2-1", "libvulkan-dev=1.4.309.0-1", "spirv-headers=1.6.1+1.4.309.0-1"],
    ...["libc6", "libgcc-s1", "libstdc++6"],
  ],
};

export interface ShaderCompiler {
  readonly glslc: string;
  /** Directory of the headers of Vulkan and SPIR-V. */
  readonly headers: string;
}

/** What tells it from another, here: the kind of machine and the packages. */
export function shaderCompilerKey(): string {
  const content = JSON.stringify([process.arch, shaderCompilerPackages]);
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

/** Brings the shader compiler into a new directory. @throws Error that says why it can't be had */
export async function fetchShaderCompiler(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await unpackDebianPackages(shaderCompilerPackages, directory);
  for (const name of [".apt", "usr/share/doc"]) await rm(join(directory, name), { recursive: true, force: true });
  const loader = (await readdir(join(directory, "usr/lib"), { recursive: true })).find((path) =>
    /(?:^|\/)ld-linux[^/]*\.so\.\d+$/.test(path),
  );
  if (loader === undefined) throw new Error("Debian's C library comes without its loader");
  const libraries = join("usr/lib", loader, "..");
  const script = [
    "#!/bin/sh",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's
    "root=${0%/*}",
    `exec "$root/usr/lib/${loader}" --library-path "$root/${libraries}" "$root/usr/bin/glslc" "$@"`,
  ];
  const { glslc } = shaderCompilerIn(directory);
  await writeFile(glslc, `${script.join("\n")}\n`);
  await chmod(glslc, 0o755);
}

/** Its parts, in the directory that it was brought to. */
export function shaderCompilerIn(directory: string): ShaderCompiler {
  return { glslc: join(directory, "glslc"), headers: join(directory, "usr/include") };
}
