import { join } from "node:path";
import { root } from "../checkout.ts";
import { cliPage } from "./cli-page.ts";

await Bun.write(join(root, "docs/cli.md"), cliPage());
