// Below the answer: how it went, and the REST calls that give a partner the same data.

import { pick, useGraphiQL } from '@graphiql/react';
import { useEffect, useState } from 'react';
import { lastAnswer, type Answer } from './answer';
import { settings } from './settings';
import { useStore } from './store';

export function AnswerFooter() {
  const answer = useStore(lastAnswer);
  const { tabs, activeTabIndex } = useGraphiQL(pick('tabs', 'activeTabIndex'));
  const tab = tabs[activeTabIndex]?.id;
  useEffect(() => lastAnswer.set(null), [tab]); // each tab has an answer of its own
  return (
    <section className="answer" aria-label="Last answer">
      {answer ? (
        <>
          <Status answer={answer} />
          <Rest answer={answer} />
        </>
      ) : (
        <p className="quiet">Run the document with Ctrl-Enter. Its time and the REST calls for the same data appear here.</p>
      )}
    </section>
  );
}

function Status({ answer }: { answer: Answer }) {
  const good = answer.status < 300 && answer.errors === 0;
  return (
    <p className="status" aria-live="polite">
      <span className={good ? 'http good' : 'http bad'}>HTTP {answer.status}</span>
      <span>{answer.milliseconds < 10 ? answer.milliseconds.toFixed(1) : Math.round(answer.milliseconds)} ms</span>
      {answer.bytes !== undefined && <span>{size(answer.bytes)}</span>}
      {answer.cost?.requested !== undefined && (
        <span title="Price of the document against the highest price allowed">
          cost {answer.cost.requested}
          {answer.cost.limit !== undefined && ` of ${answer.cost.limit}`}
        </span>
      )}
      {answer.errors > 0 && (
        <span className="bad">
          {answer.errors} {answer.errors === 1 ? 'error' : 'errors'}
        </span>
      )}
      {answer.requestId && <span className="quiet">request {answer.requestId}</span>}
    </p>
  );
}

function Rest({ answer }: { answer: Answer }) {
  const [copied, setCopied] = useState(false);
  const example = settings.examples.find((known) => operationName(known.query) === answer.operation);
  if (example?.rest.length === 0) return <p className="quiet">Only GraphQL has this: REST has no call for it.</p>;
  if (!example) {
    return (
      <p className="quiet">
        The REST paths stand in the <a href="/docs">REST reference</a>.
      </p>
    );
  }
  const calls = example.rest.map((call) => fill(call, { ...answer.variables, data: answer.data }));
  async function copy() {
    await navigator.clipboard.writeText(calls.map(({ method, path, body }) => `${method} ${path} ${body}`.trim()).join('\n'));
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  }
  return (
    <div className="rest">
      <h3>
        The same by REST
        <button type="button" onClick={copy}>
          {copied ? 'Copied' : 'Copy'}
        </button>
      </h3>
      <ul>
        {calls.map(({ method, path, body }, i) => (
          <li key={i}>
            <b className={method.toLowerCase()}>{method}</b>
            <code>
              {path}
              {body && <span className="quiet">{body}</span>}
            </code>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Splits "METHOD path body" and puts values in the places of {name}, {name.inner} and, of the answer, {data.name.inner}. */
function fill(call: string, values: Record<string, unknown>) {
  const [, method, path, body] = /^(\S+) (\S+) ?(.*)$/.exec(call) ?? ['', '', call, ''];
  const put = (text: string, encode: (value: string) => string) =>
    text.replace(/\{([\w.]+)\}/g, (whole, name: string) => {
      const value = name.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown> | null | undefined)?.[part], values);
      return value === undefined || value === null ? whole : encode(String(value));
    });
  return { method, path: put(path, encodeURIComponent), body: put(body, (value) => value) };
}

function operationName(query: string): string | undefined {
  return /^\s*(?:query|mutation|subscription)\s+(\w+)/m.exec(query)?.[1];
}

function size(bytes: number): string {
  return bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KiB`;
}
