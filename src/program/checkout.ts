import { resolve } from "node:path";

/** The root of the checkout that the program runs from. */
export const checkout: string = resolve(import.meta.dir, "../..");
