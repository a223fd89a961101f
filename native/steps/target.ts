/** An architecture that the native code is compiled for. */
export interface NativeTarget {
  /** Node's name of the architecture. */
  readonly architecture: string;
  /** The cross compiler; undefined when the target is the architecture of the compiling machine. */
  readonly cross: CrossTarget | undefined;
}

/** A cross-compilation target and its Debian cross compiler. */
export interface CrossTarget {
  /** The output of `uname -m` on the target. */
  readonly processor: string;
  readonly cCompiler: string;
  readonly compiler: string;
  /** Debian's package that contains both compilers. */
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

/** Returns the targets that a machine of the given architecture can compile for, its own first. */
export function targetsOf(host: string): NativeTarget[] {
  const others = Object.entries(crossTargets).filter(([architecture]) => architecture !== host);
  return [
    { architecture: host, cross: undefined },
    ...others.map(([architecture, cross]) => ({ architecture, cross })),
  ];
}
