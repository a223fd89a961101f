// Holds the lock of a data directory as a standby does, until SIGTERM: DIRECTORY WORD.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DataDirectory } from "../../src/storage/index.ts";

const directory = new DataDirectory(process.argv[2] ?? "");
directory.lock();
writeFileSync(join(directory.state, "standby.pid"), `${process.pid}\n`);
process.on("SIGTERM", () => process.exit(0));
process.stdout.write("locked\n");
setInterval(() => {}, 60_000);
