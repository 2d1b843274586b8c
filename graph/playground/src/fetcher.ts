// GraphQL over HTTP by the specification: one POST. Subscriptions are answered to it as Server-Sent Events.

import type { Fetcher, FetcherParams } from '@graphiql/toolkit';
import { type ExecutionResult, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { lastAnswer, showAnswer } from './answer';
import { askBeforeMutation } from './confirm';
import { currentToken, session, signOut } from './session';
import { ended, interrupted, notGraphQL, signedOut, Told, unreachable, unsure } from './words';

const accepted = 'application/graphql-response+json, application/json;q=0.9';

// Counts the documents that were run: the status of an earlier one never stands below a later one's answer.
let latest = 0;

export const fetcher: Fetcher = (params, options) => {
  const { asked, operation } = settle(params);
  if (asked.operationName !== 'IntrospectionQuery') {
    latest++;
    lastAnswer.set(null);
  }
  if (operation?.operation === 'subscription') return listen(asked, options?.headers);
  const answer = answerOnce(asked, operation, options?.headers);
  if (asked.operationName !== 'IntrospectionQuery') void answer.then(() => requestAnimationFrame(showAnswer));
  return answer;
};

// The answers of a subscription, until GraphiQL wants no more. To want no more ends the request at once, not only when
// the next answer comes.
function listen(asked: FetcherParams, headers?: Record<string, string>): AsyncIterableIterator<ExecutionResult> {
  const gone = new AbortController();
  const answers = streamed(asked, headers, gone.signal);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => answers.next(),
    return: () => {
      gone.abort();
      return answers.return(undefined);
    },
  };
}

async function* streamed(
  asked: FetcherParams,
  headers: Record<string, string> | undefined,
  gone: AbortSignal,
): AsyncGenerator<ExecutionResult, undefined> {
  try {
    const response = await send(asked, 'text/event-stream', headers, gone);
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
      yield read(await response.text(), response);
      return;
    }
    const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; ; ) {
      const { done, value } = await pieces.read();
      if (done) return;
      const events = (text + value).split('\n\n');
      text = events.pop()!;
      for (const event of events) {
        if (event.startsWith('event: complete')) return;
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data) yield read(data, response);
      }
    }
  } catch (problem) {
    if (!gone.aborted) yield failure(problem instanceof Told ? problem.message : interrupted);
  }
}

async function answerOnce(
  asked: FetcherParams,
  operation?: OperationDefinitionNode,
  headers?: Record<string, string>,
): Promise<ExecutionResult> {
  const introspection = asked.operationName === 'IntrospectionQuery';
  const mutation = operation?.operation === 'mutation';
  const run = latest;
  try {
    if (mutation && !(await askBeforeMutation(operation!, asked.variables ?? {}))) {
      return failure('Not sent: you chose not to run this mutation. Nothing was changed.');
    }
    const started = performance.now();
    const response = await send(asked, accepted, headers);
    const text = await response.text();
    const milliseconds = performance.now() - started;
    const result = read(text, response);
    if (!introspection && run === latest) {
      lastAnswer.set({
        operation: operation?.name?.value,
        variables: (asked.variables ?? {}) as Record<string, unknown>,
        data: result.data ?? undefined,
        status: response.status,
        milliseconds,
        bytes: new Blob([text]).size,
        errors: result.errors?.length ?? 0,
        requestId: response.headers.get('x-request-id') ?? undefined,
        cost: result.extensions?.cost as { requested?: number; limit?: number } | undefined,
      });
    }
    return mutation && response.status >= 500 ? withUnsure(result) : result;
  } catch (problem) {
    const told = failure(inWords(problem));
    return mutation && problem instanceof Told && problem.message === unreachable ? withUnsure(told) : told;
  }
}

// A refused token is replaced once: a 401 is answered before anything ran, so sending again is safe.
async function send(
  asked: FetcherParams,
  accept: string,
  headers: Record<string, string> = {},
  gone?: AbortSignal,
): Promise<Response> {
  const caller = session.value;
  let token = await currentToken();
  let response = await post();
  if (response.status === 401) {
    if (session.value !== caller) throw new Told(signedOut); // never again as somebody else
    token = await currentToken(token);
    response = await post();
    if (response.status === 401) {
      signOut(ended);
      throw new Told(ended);
    }
  }
  return response;

  async function post(): Promise<Response> {
    try {
      return await fetch('/graphql', {
        method: 'POST',
        cache: 'no-store',
        credentials: 'omit',
        headers: {
          ...headers,
          accept,
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
          'x-explain': 'cost',
          'graphql-client-name': 'bankgraph-playground',
        },
        body: JSON.stringify(asked),
        signal: gone,
      });
    } catch {
      throw new Told(unreachable);
    }
  }
}

function read(text: string, response: Response): ExecutionResult {
  try {
    const result = JSON.parse(text);
    if (result && typeof result === 'object' && ('data' in result || 'errors' in result)) return result;
  } catch {
    // Not JSON: told below by the status.
  }
  return failure(notGraphQL(response.status, response.headers.get('retry-after')));
}

// GraphiQL learns the operation's name from the editor a moment late: a document that has just been
// opened still comes with the name of the one before. The only operation of a document is the one meant.
function settle(asked: FetcherParams): { asked: FetcherParams; operation?: OperationDefinitionNode } {
  let operations: OperationDefinitionNode[];
  try {
    operations = parse(asked.query).definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  } catch {
    return { asked }; // the server answers a document that cannot be read
  }
  const operation =
    operations.length === 1 ? operations[0] : operations.find(({ name }) => name?.value === asked.operationName);
  return { asked: operation ? { ...asked, operationName: operation.name?.value } : asked, operation };
}

function failure(message: string): ExecutionResult {
  return { errors: [{ message } as never] };
}

function withUnsure(result: ExecutionResult): ExecutionResult {
  return { ...result, errors: [...(result.errors ?? []), { message: unsure } as never] };
}

function inWords(problem: unknown): string {
  return problem instanceof Told ? problem.message : `The page met an error of its own: ${String(problem)}`;
}
