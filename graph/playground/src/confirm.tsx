// Mutations ask first: nothing changes in a bank because of a stray Ctrl-Enter.

import { Kind, type OperationDefinitionNode } from 'graphql';
import { useEffect, useRef } from 'react';
import { session } from './session';
import { isLive } from './settings';
import { Store, useStore } from './store';

type Question = { fields: string[]; answer: (yes: boolean) => void };

const question = new Store<Question | null>(null);

export function askBeforeMutation(operation: OperationDefinitionNode): Promise<boolean> {
  const fields = operation.selectionSet.selections.map((selection) =>
    selection.kind === Kind.FIELD ? selection.name.value : '…',
  );
  return new Promise((resolve) => {
    question.value?.answer(false);
    question.set({
      fields,
      answer(yes) {
        question.set(null);
        resolve(yes);
      },
    });
  });
}

export function MutationQuestion() {
  const asked = useStore(question);
  const state = useStore(session);
  const dialog = useRef<HTMLDialogElement>(null);

  useEffect(() => {
    if (asked) dialog.current?.showModal();
    else dialog.current?.close();
  }, [asked]);

  if (!asked || state.phase !== 'in') return <dialog ref={dialog} />;
  const { tenant } = state.viewer;
  const live = isLive(tenant);
  return (
    <dialog ref={dialog} className={live ? 'card live' : 'card'} aria-labelledby="mutation-title" onCancel={() => asked.answer(false)}>
      <h2 id="mutation-title">{live ? 'Change a real bank?' : 'Run this mutation?'}</h2>
      <p>
        It changes data of tenant <strong>{tenant}</strong>
        {live ? ', which is not a sandbox' : ', a sandbox'}, by{' '}
        {asked.fields.map((field, i) => (
          <span key={i}>
            {i > 0 && ', '}
            <code>{field}</code>
          </span>
        ))}
        .
      </p>
      <div className="buttons">
        <button type="button" className="plain" autoFocus onClick={() => asked.answer(false)}>
          Do not run
        </button>
        <button type="button" className={live ? 'primary danger' : 'primary'} onClick={() => asked.answer(true)}>
          Run it
        </button>
      </div>
    </dialog>
  );
}
