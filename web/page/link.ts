// A model and a view encoded in a URL fragment.

/** The contents of a link. */
export interface Shared {
  files: Record<string, string>;
  root: string;
  view?: string;
  model?: string;
  parameters?: Record<string, number>;
}

async function piped(bytes: Uint8Array, stream: GenericTransformStream): Promise<Uint8Array> {
  const body = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, Uint8Array>);
  return new Uint8Array(await new Response(body).arrayBuffer());
}

function base64url(bytes: Uint8Array): string {
  let letters = "";
  for (let at = 0; at < bytes.length; at += 0x8000) letters += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(text: string): Uint8Array {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}

/** The fragment without its `#`. */
export async function packed(shared: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  return `m=${base64url(await piped(bytes, new CompressionStream("deflate-raw")))}`;
}

/** The maximum decompressed size of a link, in bytes: a short fragment must not exhaust memory. */
const MOST_BYTES = 16 << 20;

async function unpacked(bytes: Uint8Array): Promise<string> {
  const body = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = body.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length;
    if (length > MOST_BYTES) throw new Error("the model in the link is too long");
    parts.push(part.value);
  }
  return new Blob(parts as BlobPart[]).text();
}

function isShared(value: any): value is Shared {
  const files = value?.files;
  return typeof value?.root === "string" && typeof files === "object" && files !== null
    && typeof files[value.root] === "string" && Object.values(files).every((text) => typeof text === "string");
}

/** The contents of a fragment: a model (`m=`), a plain text (`text=`, base64url), or the name of an example (`example=`). */
export async function opened(fragment: string): Promise<Shared | { example: string; view?: string } | undefined> {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const [model, text, example] = ["m", "text", "example"].map((name) => fields.get(name));
  const view = fields.get("view") ?? undefined;
  if (model) {
    const value = JSON.parse(await unpacked(bytesOf(model)));
    if (!isShared(value)) throw new Error("the link contains no model");
    return value;
  }
  if (text) return { files: { "model.lgm": new TextDecoder().decode(bytesOf(text)) }, root: "model.lgm", view };
  return example ? { example, view } : undefined;
}
