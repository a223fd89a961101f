/** What became of a file; `errors` is what the process wrote where it crashed. */
export interface Answer {
  readonly answer: "loaded" | "refused" | "crashed";
  readonly errors: string;
}

/** A good model takes seconds under AddressSanitizer; a process that is silent for so long is stuck, which is as bad as a crash. */
const SILENCE_MS = 120_000;

/** Loads model files in a process of load-models.cpp, and in a new one after each crash. */
export class Loader {
  readonly #program: string;
  #process: LoaderProcess | null = null;

  constructor(program: string) {
    this.#program = program;
  }

  async load(kind: string, path: string): Promise<Answer> {
    this.#process ??= new LoaderProcess(this.#program);
    const answer = await this.#process.load(kind, path);
    if (answer.answer === "crashed") this.#process = null;
    return answer;
  }

  end(): void {
    this.#process?.end();
    this.#process = null;
  }
}

class LoaderProcess {
  readonly #child;
  readonly #errors: Promise<string>;
  readonly #lines: AsyncIterator<string>;

  constructor(program: string) {
    this.#child = Bun.spawn([program], {
      ...{ stdin: "pipe", stdout: "pipe", stderr: "pipe" },
      // An allocation of what a header claims must not pass unnoticed.
      env: { ...process.env, ASAN_OPTIONS: "detect_leaks=1:max_allocation_size_mb=2048:allocator_may_return_null=0" },
    });
    this.#errors = new Response(this.#child.stderr).text();
    this.#lines = linesOf(this.#child.stdout);
  }

  async load(kind: string, path: string): Promise<Answer> {
    const silence = setTimeout(() => this.#child.kill("SIGABRT"), SILENCE_MS);
    try {
      this.#child.stdin.write(`${kind} ${path}\n`);
      await this.#child.stdin.flush();
      const { value } = await this.#lines.next();
      if (value === "loaded" || value === "refused") return { answer: value, errors: "" };
    } finally {
      clearTimeout(silence);
    }
    return { answer: "crashed", errors: await this.#errors };
  }

  end(): void {
    this.#child.kill();
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pending = "";
  for await (const bytes of stream) {
    const lines = (pending + decoder.decode(bytes, { stream: true })).split("\n");
    pending = lines.pop() ?? "";
    yield* lines;
  }
}
