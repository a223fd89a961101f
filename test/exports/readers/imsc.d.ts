/** The parts of imsc without HTML, for which there are no types. */
declare module "imsc/src/main/js/doc.js" {
  interface Complaints {
    readonly info: (message: string) => boolean;
    readonly warn: (message: string) => void;
    readonly error: (message: string) => void;
    readonly fatal: (message: string) => void;
  }
  export function fromXML(xml: string, complaints: Complaints): unknown;
}
declare module "imsc/src/main/js/isd.js" {
  export function generateISD(document: unknown, seconds: number, complaints: object): unknown;
}
