import { Store } from './store';

/** What is known about the last answer besides its body. */
export type Answer = {
  operation?: string;
  variables: Record<string, unknown>;
  data?: unknown;
  status: number;
  milliseconds: number;
  bytes?: number;
  errors: number;
  requestId?: string;
  cost?: { requested?: number; limit?: number };
};

/** Where the panes stand below each other, the answer is below the window: brings it there. */
export function showAnswer() {
  if (!matchMedia('(max-width: 899.98px)').matches) return;
  const pane = document.querySelector('.graphiql-response');
  if (pane) scrollBy(0, pane.getBoundingClientRect().top); // the page alone, none of the panes
}

export const lastAnswer = new Store<Answer | null>(null);
