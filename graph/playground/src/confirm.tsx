// Mutations ask first: nothing changes in a bank because of a stray Ctrl-Enter.

import { Kind, type OperationDefinitionNode, type SelectionNode, valueFromASTUntyped } from 'graphql';
import { useEffect, useRef } from 'react';
import { session } from './session';
import { isLive } from './settings';
import { Store, useStore } from './store';

type Change = { field: string; objects: string[] };
type Question = { changes: Change[]; answer: (yes: boolean) => void };

const question = new Store<Question | null>(null);

export function askBeforeMutation(operation: OperationDefinitionNode, variables: Record<string, unknown>): Promise<boolean> {
  const changes = operation.selectionSet.selections.map((selection) => change(selection, variables));
  return new Promise((resolve) => {
    question.value?.answer(false);
    question.set({
      changes,
      answer(yes) {
        question.set(null);
        resolve(yes);
      },
    });
  });
}

// What an input calls the thing that it changes, or whose it is, and the name that it gets.
const naming = /^(uid|uids|id|customer|account|contact|signatory|user|role|number|name|legalName|fullName|loginId|templateName)$/;

function change(selection: SelectionNode, variables: Record<string, unknown>): Change {
  if (selection.kind !== Kind.FIELD) return { field: '…', objects: [] };
  const objects: string[] = [];
  for (const argument of selection.arguments ?? []) {
    const value: unknown = valueFromASTUntyped(argument.value, variables);
    const inner = value && typeof value === 'object' && !Array.isArray(value) ? value : { [argument.name.value]: value };
    for (const [name, one] of Object.entries(inner)) {
      if (naming.test(name) && one !== null && one !== undefined) objects.push(`${name} ${String(one)}`);
    }
  }
  return { field: selection.name.value, objects };
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
        {asked.changes.map(({ field, objects }, i) => (
          <span key={i}>
            {i > 0 && ', '}
            <code>{field}</code>
            {objects.length > 0 && (
              <>
                {' of '}
                <strong>{objects.join(', ')}</strong>
              </>
            )}
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
