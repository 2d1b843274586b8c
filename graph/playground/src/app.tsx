import { GraphiQL } from 'graphiql';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { useEffect, useMemo, useState } from 'react';
import { MutationQuestion } from './confirm';
import { examplesPlugin, OwnExample } from './examples';
import { fetcher } from './fetcher';
import { AnswerFooter } from './footer';
import { Header } from './header';
import { lastAnswer } from './answer';
import { mayExplore, session, signOut } from './session';
import { settings } from './settings';
import { SignIn } from './signin';
import { useStore } from './store';
import { EditorTheme, editorTheme } from './theme';

const plugins = [examplesPlugin, HISTORY_PLUGIN];

export function App() {
  const state = useStore(session);
  const [asking, setAsking] = useState(true);
  const [desk, setDesk] = useState(0);

  useEffect(() => {
    if (state.phase === 'out') setAsking(true);
  }, [state]);

  // A new function for every sign-in makes GraphiQL ask for the schema again, as the new caller.
  const sessionNumber = state.phase === 'in' ? state.number : 0;
  const ask = useMemo(() => fetcher.bind(null), [sessionNumber]);
  // Documents of before a reload come back from storage; else the page opens with the first example.
  const first = sessionStorage.getItem('graphiql:tabState') ? undefined : settings.examples[0];

  // Leaving clears the desk: a new GraphiQL has the documents, but none of the answers.
  function leave() {
    signOut();
    lastAnswer.set(null);
    setDesk(desk + 1);
  }

  return (
    <>
      <Header onSignIn={() => setAsking(true)} onSignOut={leave} />
      <main>
        <GraphiQL
          key={desk}
          fetcher={ask}
          schema={state.phase === 'in' && mayExplore(state) ? undefined : null}
          schemaDescription
          inputValueDeprecation
          initialQuery={first?.query}
          initialVariables={first?.variables}
          defaultEditorToolsVisibility="variables"
          plugins={plugins}
          visiblePlugin={examplesPlugin}
          editorTheme={editorTheme}
          // Documents and variables may name customers: they go when the browser's tab does.
          storage={sessionStorage}
          shouldPersistHeaders={false}
          showPersistHeadersSettings={false}
        >
          <EditorTheme />
          <OwnExample />
          <GraphiQL.Logo>{' '}</GraphiQL.Logo>
          <GraphiQL.Footer>
            <AnswerFooter />
          </GraphiQL.Footer>
        </GraphiQL>
      </main>
      <SignIn
        open={asking && state.phase === 'out'}
        why={state.phase === 'out' ? state.why : undefined}
        onClose={() => setAsking(false)}
      />
      <MutationQuestion />
    </>
  );
}
