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

export const lastAnswer = new Store<Answer | null>(null);
