export { type UsedRows, useVirtualRows } from "./use-virtual-rows.ts";
