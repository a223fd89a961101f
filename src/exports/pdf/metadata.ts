import { xmlText } from "../xml-text.ts";

interface Metadata {
  readonly title: string;
  readonly producer: string;
  readonly created: Date;
  readonly language: string;
}

/** Returns the document's metadata as XMP, for programs that do not read the info dictionary. */
export function metadataPacket({ title, producer, created, language }: Metadata): string {
  return `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">${xmlText(title)}</rdf:li></rdf:Alt></dc:title>
<dc:language><rdf:Bag><rdf:li>${xmlText(language)}</rdf:li></rdf:Bag></dc:language>
<xmp:CreateDate>${created.toISOString()}</xmp:CreateDate>
<pdf:Producer>${xmlText(producer)}</pdf:Producer>
</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="r"?>
`;
}
