// An answer as elements. The server sends a tree: text, or [name, attributes, ...children]; what is not listed here is shown as its text.
import { html, useRef, useState } from "./html.js";
import { shown } from "./figures.js";
import { say } from "./ui.js";

const NAMES = new Set(["p", "ul", "ol", "li", "blockquote", "code", "em", "strong", "s", "thead", "tbody", "tr", "td", "hr", "br"]);
const HEADING = /^h[3-6]$/;
const BLOCKS = new Set(["p", "h3", "h4", "h5", "h6", "li", "pre", "th", "td", "hr", "br"]);
const LINKED = new Set(["http:", "https:", "mailto:"]);
const UNCITED = "This cites no passage";
const LONGEST = 80;

// The words of nodes, without code blocks and citations.
export function words(nodes) {
  return nodes.map((node) => {
    if (typeof node === "string") return node;
    const [name, , ...children] = node;
    return (name === "pre" || name === "cite" ? "" : words(children)) + (BLOCKS.has(name) ? " " : "");
  }).join("");
}

const textOf = (nodes) => nodes.map((node) => typeof node === "string" ? node : textOf(node.slice(2))).join("");
const lacking = (nodes) => nodes.some((node) => typeof node !== "string" && (node[1].uncited || lacking(node.slice(2))));

// `cite` makes the element of a citation; `under` is the level of the heading above the answer.
export function Markdown({ blocks, cite, under = 2 }) {
  return html`<div class="reading said">${made(blocks, { cite, under, level: under })}</div>
    ${lacking(blocks) && html`<p class="soft small legend">A dotted line at the side marks what cites no passage.</p>`}`;
}

// Nodes are made in their order, so that `use.level` is the level of the heading before.
const made = (nodes, use) => nodes.map((node) => typeof node === "string" ? shown(node) : element(node, use));

function element([name, given, ...children], use) {
  if (name === "cite") return use.cite(given.n);
  if (name === "a") return html`<${Link} href=${given.href} text=${textOf(children)}>${made(children, use)}<//>`;
  if (name === "pre") return html`<${Code} text=${textOf(children)} language=${given.language} uncited=${given.uncited} />`;
  if (name === "table") return html`<${Table} nodes=${children} uncited=${given.uncited}>${made(children, use)}<//>`;
  if (HEADING.test(name)) {
    // No level is left out, or screen readers miss one.
    use.level = Math.min(Number(name[1]) + use.under - 2, use.level + 1, 6);
    return html`<${`h${use.level}`}>${made(children, use)}<//>`;
  }
  if (name === "th") return html`<${textOf(children).trim() ? "th" : "td"} scope=${textOf(children).trim() ? "col" : undefined} class=${aligned(given)}>${made(children, use)}<//>`;
  if (!NAMES.has(name)) return shown(textOf(children));
  if (name === "hr" || name === "br") return html`<${name} />`;
  const start = name === "ol" && Number.isInteger(given.start) ? given.start : undefined;
  return html`<${name} start=${start} class=${given.uncited ? "uncited" : name === "td" ? aligned(given) : undefined} title=${given.uncited ? UNCITED : undefined}>${made(children, use)}<${Lacks} uncited=${given.uncited} /><//>`;
}

const aligned = ({ align }) => align === "right" || align === "center" ? `to-${align}` : undefined;

function Lacks({ uncited }) {
  return uncited && html`<span class="unseen"> ${UNCITED}. </span>`;
}

function parsed(href) {
  try {
    const url = new URL(href);
    return LINKED.has(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

// A link says where it leads, unless its text does. Other addresses can be read, and nothing follows them.
function Link({ href, text, children }) {
  const url = parsed(href);
  if (!url) return html`${children}${href && href !== text.trim() && ` (${shown(href)})`}`;
  const place = `${url.host}${url.pathname === "/" ? "" : url.pathname}`, whole = `${place}${url.search && "?…"}`;
  const same = !url.username && [url.href, `${url.protocol}//${place}${url.search}${url.hash}`, `${place}${url.search}${url.hash}`].includes(text.trim());
  return html`<a href=${url.href} target="_blank" rel="noreferrer noopener" title=${shown(url.href)}>${children}</a>${!same && html`<small class="soft"> (${shown(whole.length > LONGEST ? `${whole.slice(0, LONGEST - 1)}…` : whole)})</small>`}`;
}

function Code({ text, language, uncited }) {
  const box = useRef(null), [copied, copy] = useState(false), seen = shown(text);
  const take = async () => {
    try {
      await navigator.clipboard.writeText(seen);
      copy(true);
      say("Copied.");
      setTimeout(() => copy(false), 2000);
    } catch { // the browser gives no way to: what is selected can be copied by hand
      getSelection().selectAllChildren(box.current);
      say("The code is selected.");
    }
  };
  return html`<div class=${`code ${uncited ? "uncited" : ""}`} title=${uncited ? UNCITED : undefined}>
    <div class="row apart"><span class="soft small">${shown(language ?? "")}</span><button type="button" class="quiet small" aria-label="Copy the code" onClick=${take}>${copied ? "Copied" : "Copy"}</button></div>
    <pre tabindex="0" role="group" aria-label=${language ? `Code, ${shown(language)}` : "Code"}><code ref=${box}>${seen}</code></pre><${Lacks} uncited=${uncited} />
  </div>`;
}

function Table({ nodes, uncited, children }) {
  const head = words(nodes.slice(0, 1)).trim().replace(/\s+/g, " ");
  return html`<div class=${`frame ${uncited ? "uncited" : ""}`} tabindex="0" role="group" aria-label=${shown(`Table: ${head.slice(0, LONGEST)}`)} title=${uncited ? UNCITED : undefined}>
    <table>${children}</table><${Lacks} uncited=${uncited} />
  </div>`;
}
