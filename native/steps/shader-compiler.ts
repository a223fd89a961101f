import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type DebianPackages, unpackDebianPackages } from "./debian-packages.ts";

/**
 * The shader compiler and headers of Debian 13, used to build the Vulkan backend. Debian 12's versions do not support
 * cooperative matrices, which GPUs use for matrix products. The C library that the compiler was built for is included.
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
  /** Directory of the Vulkan and SPIR-V headers. */
  readonly headers: string;
}

/** Returns the cache key of the shader compiler: a hash of the architecture and the packages. */
export function shaderCompilerKey(): string {
  const content = JSON.stringify([process.arch, shaderCompilerPackages]);
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

/**
 * Fetches the shader compiler into a new directory.
 * @throws {Error} when the packages cannot be fetched or lack the loader
 */
export async function fetchShaderCompiler(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await unpackDebianPackages(shaderCompilerPackages, directory);
  for (const name of [".apt", "usr/share/doc"]) await rm(join(directory, name), { recursive: true, force: true });
  const loader = (await readdir(join(directory, "usr/lib"), { recursive: true })).find((path) =>
    /(?:^|\/)ld-linux[^/]*\.so\.\d+$/.test(path),
  );
  if (loader === undefined) throw new Error("Debian's package libc6 contains no dynamic loader");
  const libraries = join("usr/lib", loader, "..");
  const script = [
    "#!/bin/sh",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell expands it
    "root=${0%/*}",
    `exec "$root/usr/lib/${loader}" --library-path "$root/${libraries}" "$root/usr/bin/glslc" "$@"`,
  ];
  const { glslc } = shaderCompilerIn(directory);
  await writeFile(glslc, `${script.join("\n")}\n`);
  await chmod(glslc, 0o755);
}

/** Returns the paths of the shader compiler's parts in the directory that contains it. */
export function shaderCompilerIn(directory: string): ShaderCompiler {
  return { glslc: join(directory, "glslc"), headers: join(directory, "usr/include") };
}
