/** A kind of machine that the native parts are compiled for. */
export interface NativeTarget {
  /** By Node's name. */
  readonly architecture: string;
  /** Where it is not the kind that compiles: what CMake has to know of it. */
  readonly cross: CrossTarget | undefined;
}

/** A kind of machine that another one can compile for, with Debian's cross compiler. */
export interface CrossTarget {
  /** As `uname -m` says it there. */
  readonly processor: string;
  readonly cCompiler: string;
  readonly compiler: string;
  /** Debian's package that brings both. */
  readonly debianPackage: string;
}

const crossTargets: Readonly<Record<string, CrossTarget>> = {
  arm64: {
    processor: "aarch64",
    cCompiler: "aarch64-linux-gnu-gcc",
    compiler: "aarch64-linux-gnu-g++",
    debianPackage: "g++-aarch64-linux-gnu",
  },
};

/** The kinds of machine that a machine of kind `here` compiles for, its own first. */
export function targetsOf(here: string): NativeTarget[] {
  const others = Object.entries(crossTargets).filter(([architecture]) => architecture !== here);
  return [
    { architecture: here, cross: undefined },
    ...others.map(([architecture, cross]) => ({ architecture, cross })),
  ];
}
