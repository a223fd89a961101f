import { type PDFContext, PDFHexString, PDFInvalidObject, type PDFRef } from "@cantoo/pdf-lib";

/** Standard structure types (ISO 32000-1, 14.8.4) that are used for a transcript. */
type StructureType = "Document" | "Sect" | "H1" | "H2" | "P";

/** A node of the document's logical structure, which screen readers read. */
export interface StructureElement {
  readonly ref: PDFRef;
  readonly type: StructureType;
  readonly parent: PDFRef;
  readonly language: string | undefined;
  readonly children: StructureElement[];
  readonly content: { readonly page: number; readonly id: number }[];
}

/** Builds the structure tree while pages are drawn, and writes it when all pages are known. */
export class Structure {
  readonly rootRef: PDFRef;
  readonly document: StructureElement;
  readonly #context: PDFContext;
  /** For each page, the elements that own its marked content, indexed by the content's id. */
  readonly #owners: PDFRef[][] = [];

  constructor(context: PDFContext) {
    this.#context = context;
    this.rootRef = context.nextRef();
    this.document = this.#element("Document", this.rootRef, undefined);
  }

  add(parent: StructureElement, type: StructureType, language?: string): StructureElement {
    const element = this.#element(type, parent.ref, language);
    parent.children.push(element);
    return element;
  }

  /** Returns the id of a page's next marked content and assigns this content to an element. */
  mark(element: StructureElement, page: number): number {
    while (this.#owners.length <= page) this.#owners.push([]);
    const owners = this.#owners[page] ?? [];
    owners.push(element.ref);
    const id = owners.length - 1;
    element.content.push({ page, id });
    return id;
  }

  /**
   * Writes the structure tree.
   * @param pages references of the pages, indexed by page number
   */
  write(pages: readonly PDFRef[]): void {
    this.#write(this.document, pages);
    const parentTree = this.#context.obj({
      Nums: this.#owners.flatMap((owners, page) => [this.#context.obj(page), this.#context.obj(owners)]),
    });
    this.#context.assign(
      this.rootRef,
      this.#context.obj({
        Type: "StructTreeRoot",
        K: this.document.ref,
        ParentTree: this.#context.register(parentTree),
        ParentTreeNextKey: this.#owners.length,
      }),
    );
  }

  #element(type: StructureType, parent: PDFRef, language: string | undefined): StructureElement {
    return { ref: this.#context.nextRef(), type, parent, language, children: [], content: [] };
  }

  #write(element: StructureElement, pages: readonly PDFRef[]): void {
    const firstPage = element.content[0]?.page;
    const kids = [
      ...element.children.map(({ ref }) => ref.toString()),
      ...element.content.map(({ page, id }) =>
        page === firstPage ? String(id) : `<</Type/MCR/Pg ${pages[page]}/MCID ${id}>>`,
      ),
    ];
    const entries = [
      `/Type/StructElem/S/${element.type}/P ${element.parent}/K `,
      kids.length === 1 ? kids[0] : `[${kids.join(" ")}]`,
      firstPage === undefined ? "" : `/Pg ${pages[firstPage]}`,
      element.language === undefined ? "" : `/Lang ${PDFHexString.fromText(element.language)}`,
    ];
    // The library writes the bytes of an "invalid" object as they are. For tens of thousands of elements, a dictionary of
    // separate parts would take ten times as much memory.
    this.#context.assign(element.ref, PDFInvalidObject.of(Buffer.from(`<<${entries.join("")}>>`)));
    for (const child of element.children) this.#write(child, pages);
  }
}
