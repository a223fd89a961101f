import { Workplace } from "./workplace.ts";

// A server to be killed while it makes copies. It prints the id of each copy that it starts.
const workplace = new Workplace({}, process.argv[2]);
const id = await workplace.completedLong();
workplace.copies.enqueue(id);
await workplace.untilBegun(id);
console.log(id);
