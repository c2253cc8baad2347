// A job of a collection: started, watched, called off, taken up again. Library and Evaluate use it for their kinds of jobs.
import { html, useCallback, useEffect, useRef, useState } from "./html.js";
import { api, events, path } from "./api.js";
import { shown } from "./figures.js";
import { Progress, say, Trouble } from "./ui.js";
import { dollars, when } from "./words.js";

const SOON = 1000, LATE = 15000; // milliseconds until a broken stream is taken up again, the first time and at most

export const under = (job) => job?.state === "waiting" || job?.state === "running";

// The newest job of these kinds, with all that can be done to it. `ended` is called when one has ended.
export function useJob(collection, kinds, ended) {
  const [job, set] = useState(null), [problem, fail] = useState(null);
  const done = useRef(ended);
  done.current = ended;
  const guarded = useCallback(async (act) => {
    fail(null);
    try {
      const next = await act();
      if (next) set(next);
      return next;
    } catch (error) {
      if (error.name !== "AbortError") fail(error);
      return null;
    }
  }, []);
  useEffect(() => {
    const abort = new AbortController();
    set(null);
    api.get(path`/collections/${collection}/jobs`, abort.signal).then(
      // One that was started meanwhile is newer.
      ({ jobs }) => set((old) => old ?? jobs.find((one) => kinds.includes(one.kind)) ?? null),
      (error) => error.name === "AbortError" || fail(error),
    );
    return () => abort.abort();
  }, [collection]);
  const id = job?.id, running = under(job);
  useEffect(() => {
    if (!running) return undefined;
    const abort = new AbortController();
    watch(id, abort.signal, set, fail).then((last) => {
      if (last) {
        say(`The job ${last.kind} is ${last.state}.`);
        done.current?.(last);
      }
    }, (error) => error.name === "AbortError" || fail(error));
    return () => abort.abort();
  }, [id, running]);
  return {
    job,
    problem,
    start: (body) => guarded(() => api.post(path`/collections/${collection}/jobs`, body)),
    cancel: () => guarded(() => api.post(path`/jobs/${id}/cancel`)),
    resume: () => guarded(() => api.post(path`/jobs/${id}/resume`)),
  };
}

// A job until it has ended. A stream that breaks off (the server starts anew, the computer slept) is taken up again: its first event tells how the job stands now.
async function watch(id, signal, set, fail) {
  let wait = SOON, broken = false;
  while (!signal.aborted) {
    try {
      for await (const { event, data } of events("GET", path`/jobs/${id}/events`, { signal })) {
        if (broken) fail(null);
        wait = SOON;
        broken = false;
        if (event === "progress") set((old) => old?.id === id ? { ...old, state: "running", progress: data } : old);
        if (event === "done") {
          set((old) => old?.id === id ? data : old);
          return data;
        }
      }
    } catch (error) {
      if (!passing(error)) throw error;
      fail(error);
      broken = true;
    }
    await pause(wait, signal);
    wait = Math.min(2 * wait, LATE);
  }
  return null;
}

// Whether it may be otherwise in a moment: nobody answers, or the server is busy or has trouble of its own.
const passing = ({ status }) => status === 0 || status === 408 || status === 429 || status >= 500;

const pause = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
});

// How far each stage is, and what can be done about it.
export function JobState({ title, job, cancel, resume }) {
  if (!job) return null;
  const stages = job.progress?.stages ?? (job.progress ? [job.progress] : []);
  const going = under(job);
  return html`<div class="job" aria-label=${title} role="group">
    <div class="row apart">
      <p><strong>${title}</strong> <span class=${`tag ${job.state === "done" ? "good" : job.state === "failed" ? "bad" : going ? "mark" : ""}`}>${job.state}</span>
        <span class="soft small"> ${when(job.ended ?? job.started ?? job.created)}${job.progress?.usd > 0 ? ` · ${dollars(job.progress.usd)} spent` : job.progress?.usd === null && " · price unknown"}</span></p>
      <div class="row">
        ${going && html`<button type="button" onClick=${cancel}>Cancel</button>`}
        ${(job.state === "failed" || job.state === "cancelled") && html`<button type="button" onClick=${resume}>Go on</button>`}
      </div>
    </div>
    ${going && html`<ul class="stages plain">
      ${!stages.length && html`<li><span>waits for its turn</span><${Progress} label="waiting" /></li>`}
      ${stages.map((one, at) => html`<li key=${one.stage}>
        <span>${shown(one.stage)}</span>
        <span class="soft small">${one.total ? `${one.done.toLocaleString("en")} of ${one.total.toLocaleString("en")}` : one.done ? one.done.toLocaleString("en") : ""} ${shown(one.note ?? "")}</span>
        <${Progress} label=${one.stage} done=${one.done} total=${one.total || (at < stages.length - 1 ? one.done || 1 : 0)} />
      </li>`)}
    </ul>`}
    ${job.error && html`<${Trouble} problem=${job.error} />`}
  </div>`;
}
