// Elements of the page.

type Child = Node | string | null | undefined | false;

/** Creates an element with properties, attributes (names with `-`, and `role`), and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Record<string, unknown> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, String(value));
    else (element as unknown as Record<string, unknown>)[name] = value;
  }
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
  return element;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

const pictureStyle = `svg { max-width: 100%; height: auto; display: block; margin: auto } .chosen .line, .chosen .name { stroke-opacity: 1 }
  .chosen { filter: drop-shadow(0 0 3px #d4351c) } .waiting { opacity: 0.3 } .waiting .stroke { visibility: hidden }
  .now .line, .now .stroke { stroke: #d4351c !important }`;

/** Shows a picture in a separate shadow tree, because its style sheet uses short class names. The policy of the page allows no style elements. */
export function picture(host: HTMLElement, svg: string): SVGSVGElement | null {
  const tree = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  const bare = svg.replace(/<style>([^<]*)<\/style>/, (_, own: string) => {
    sheet.replaceSync(pictureStyle + own);
    return "";
  });
  tree.adoptedStyleSheets = [sheet];
  tree.innerHTML = bare;
  return tree.querySelector("svg");
}

/** Offers bytes or a text as a file. */
export function download(name: string, content: BlobPart, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const anchor = make("a", { href: url, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Renders the subset of Markdown that hovers use. */
export function markdown(text: string): HTMLElement {
  const body = make("div", { className: "hover" });
  const blocks = text.split(/```(?:\w*)\n?/);
  blocks.forEach((block, at) => {
    if (at % 2 === 1) {
      body.append(make("pre", {}, block.trimEnd()));
      return;
    }
    for (const paragraph of block.split(/\n{2,}/)) {
      if (!paragraph.trim()) continue;
      const lines = paragraph.split("\n");
      if (lines.every((line) => line.startsWith("- ") || !line.trim())) {
        const list = make("ul");
        for (const line of lines) if (line.trim()) list.append(inline(make("li"), line.slice(2)));
        body.append(list);
      } else {
        body.append(inline(make("p"), paragraph));
      }
    }
  });
  return body;
}

/** Appends a text with code and emphasis. */
export function inline<T extends HTMLElement>(host: T, text: string): T {
  for (const piece of text.split(/(`[^`]*`|\*\*[^*]+\*\*|\[[^\]]*\]\([^)]*\))/)) {
    if (piece.startsWith("`") && piece.length > 1) host.append(make("code", {}, piece.slice(1, -1)));
    else if (piece.startsWith("**") && piece.length > 4) host.append(make("strong", {}, piece.slice(2, -2)));
    else if (/^\[[^\]]*\]\(/.test(piece)) host.append(piece.slice(1, piece.indexOf("]")));
    else host.append(piece);
  }
  return host;
}
