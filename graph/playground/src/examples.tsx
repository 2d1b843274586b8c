// The drawer of example documents, a plugin of GraphiQL.

import { type GraphiQLPlugin, pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect } from 'react';
import { mayExplore, session, type Session } from './session';
import { demoTenant, settings, type Example } from './settings';
import { useStore } from './store';
import { schemaClosed } from './words';

export const examplesPlugin: GraphiQLPlugin = {
  title: 'Examples',
  icon: () => (
    <svg viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" strokeLinejoin="round">
      <path d="M10 5C8 3.7 6 3.4 3 3.5v11.5c3-.1 5 .2 7 1.5 2-1.3 4-1.6 7-1.5V3.5C14 3.4 12 3.7 10 5Zm0 0v11.5" />
    </svg>
  ),
  content: Examples,
};

/** The document as the editor holds it; Monaco writes some spaces as U+00A0. */
export function sameDocument(a: string, b: string): boolean {
  const plain = (text: string) => text.replaceAll('\u00a0', ' ').trim();
  return plain(a) === plain(b);
}

// The demo partner sees none of the bank's customers but its own: the examples ask for those. core/demo names them.
const partnersOwn: [string, string][] = [
  ['1000001', '1000013'],
  ['1000002', '1000023'],
  ['404521680718', '406162467398'],
  ['2511', '2512'],
];

function variablesFor(example: Example, state: Session): string {
  const partner = state.phase === 'in' && state.viewer.tenant === demoTenant && state.viewer.reach === 'PARTNER';
  if (!settings.demo || !partner) return example.variables;
  return partnersOwn.reduce((text, [banks, own]) => text.replaceAll(banks, own), example.variables);
}

/** Why the one who has signed in cannot run an example; nothing where they can, or it is not known. */
function barred({ needs, person }: Example, state: Session): string | undefined {
  if (state.phase !== 'in' || !state.viewer.permissions) return undefined;
  const { permissions, login } = state.viewer;
  const lacks = needs.filter((one) => !permissions.includes(one));
  if (lacks.length > 0) return `Not with this key: it lacks ${lacks.join(' and ')}.`;
  if (person && login === null) return 'Not with this key: it speaks for no person.';
  return undefined;
}

/** Turns an example that nobody has edited to who signs in. */
export function OwnExample() {
  const { queryEditor, variableEditor } = useGraphiQL(pick('queryEditor', 'variableEditor'));
  const state = useStore(session);
  useEffect(() => {
    if (!queryEditor || !variableEditor || state.phase !== 'in') return;
    const example = settings.examples.find((known) => sameDocument(known.query, queryEditor.getValue()));
    if (example && sameDocument(example.variables, variableEditor.getValue())) {
      variableEditor.setValue(variablesFor(example, state));
    }
  }, [state, queryEditor, variableEditor]);
  return null;
}

function Examples() {
  const state = useStore(session);
  const { queryEditor, variableEditor, tabs, activeTabIndex } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'tabs', 'activeTabIndex'),
  );
  const { addTab } = useGraphiQLActions();
  const shown = tabs[activeTabIndex]?.query ?? '';

  function open(example: Example) {
    if (!queryEditor || !variableEditor) return;
    // A document somebody wrote is kept: the example opens beside it.
    const now = queryEditor.getValue();
    const own = now.trim() !== '' && !settings.examples.some((known) => sameDocument(known.query, now));
    if (own) addTab();
    queryEditor.setValue(example.query);
    variableEditor.setValue(variablesFor(example, state));
    queryEditor.focus();
  }

  return (
    <section className="examples" aria-label="Examples">
      <h2>Examples</h2>
      <p>Everyday tasks of bank staff. Choose one, then run it with Ctrl-Enter.</p>
      {!mayExplore(state) && <p className="notice">{schemaClosed}</p>}
      {settings.examples.length === 0 && <p>This server ships no examples.</p>}
      <ol>
        {settings.examples.map((example) => {
          const why = barred(example, state);
          return (
            <li key={example.name} className={why && 'barred'}>
              <button type="button" aria-current={sameDocument(example.query, shown)} onClick={() => open(example)}>
                <strong>{example.title}</strong>
                <span>{example.description}</span>
                {why && <em>{why}</em>}
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
