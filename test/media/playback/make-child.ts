import { Workplace } from "./workplace.ts";

// A server that is killed while it makes copies: it says what it makes, and goes on.
const [root = "", path = "", seconds = ""] = process.argv.slice(2);
const workplace = new Workplace(root);
const id = await workplace.completed(path, Number(seconds));
workplace.copies.enqueue(id);
await workplace.untilBegun(id);
console.log(id);
