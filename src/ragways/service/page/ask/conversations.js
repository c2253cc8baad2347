// Conversations that were had: open, begin, delete.
import { html, useEffect, useLoaded, useState } from "../parts/html.js";
import { api, path } from "../parts/api.js";
import { shown } from "../parts/figures.js";
import { go, link } from "../parts/router.js";
import { say, Trouble } from "../parts/ui.js";
import { when } from "../parts/words.js";

export function Conversations({ collection, current, changes }) {
  const { value, problem, again } = useLoaded((signal) => api.get(path`/collections/${collection}/conversations`, signal), [collection]);
  const [failed, fail] = useState(null);
  useEffect(() => { if (changes) again(); }, [changes]);
  const wide = matchMedia("(min-width: 900px)").matches;
  const remove = async (one) => {
    try {
      await api.remove(path`/collections/${collection}/conversations/${one.id}`);
      say("Conversation deleted.");
      if (one.id === current) go("ask", collection);
      again();
    } catch (error) {
      fail(error);
    }
  };
  const list = value?.conversations ?? [];
  return html`<aside class="conversations" aria-label="Conversations">
    <details open=${wide}>
      <summary>Conversations${list.length > 0 && ` (${list.length})`}</summary>
      <p><a class="button" href=${link("ask", collection)} aria-current=${current ? undefined : "page"}>New conversation</a></p>
      <${Trouble} problem=${problem ?? failed} />
      <ul class="plain">${list.map((one) => html`<li key=${one.id}>
        <a href=${link("ask", collection, [one.id])} aria-current=${one.id === current ? "page" : undefined} title=${when(one.created)}>${shown(one.title || "Without a question")}</a>
        <button type="button" class="quiet" aria-label=${`Delete conversation: ${shown(one.title || "without a question")}`} onClick=${() => remove(one)}>✕</button>
      </li>`)}</ul>
      ${value && !list.length && html`<p class="soft small">What you ask is kept here, for you alone.</p>`}
    </details>
  </aside>`;
}
