// Promotes the standby in a data directory, and ends this process with SIGKILL before a step of it: DIRECTORY FENCE STEP.
import { FolderRegister } from "../../src/standby/folder-register.ts";
import { dieAtStep } from "../support/die-at-step.ts";
import { promoteByFolder } from "./leases.ts";

const [directory = "", fence = "", step = ""] = process.argv.slice(2);
const die = dieAtStep(Number(step));
const replace = FolderRegister.prototype.replace;
FolderRegister.prototype.replace = async function (this: FolderRegister, ...write) {
  die();
  return await replace.apply(this, write);
};
await promoteByFolder(directory, fence, die);
