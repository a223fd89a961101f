import { Workplace } from "./workplace.ts";

// A server to be killed while it makes copies. It prints the id of each copy that it starts.
const [root = "", path = "", seconds = ""] = process.argv.slice(2);
const workplace = new Workplace(root);
const id = await workplace.completed(path, Number(seconds));
workplace.copies.enqueue(id);
await workplace.untilBegun(id);
console.log(id);
