// GraphQL over HTTP by the specification: one POST; subscriptions as server-sent events.

import type { Fetcher, FetcherParams } from '@graphiql/toolkit';
import { type ExecutionResult, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { lastAnswer } from './answer';
import { askBeforeMutation } from './confirm';
import { currentToken, session, signOut } from './session';
import { ended, notGraphQL, signedOut, Told, unreachable, unsure } from './words';

const accepted = 'application/graphql-response+json, application/json;q=0.9';

export const fetcher: Fetcher = (params, options) => {
  const { asked, operation } = settle(params);
  return operation?.operation === 'subscription' ? subscribe(asked) : answerOnce(asked, operation, options?.headers);
};

async function answerOnce(
  asked: FetcherParams,
  operation?: OperationDefinitionNode,
  headers?: Record<string, string>,
): Promise<ExecutionResult> {
  const introspection = asked.operationName === 'IntrospectionQuery';
  const mutation = operation?.operation === 'mutation';
  try {
    if (mutation && !(await askBeforeMutation(operation!))) {
      return failure('Not sent: you chose not to run this mutation. Nothing was changed.');
    }
    if (!introspection) lastAnswer.set(null);
    const started = performance.now();
    const response = await send(asked, accepted, headers);
    const text = await response.text();
    const milliseconds = performance.now() - started;
    const result = read(text, response);
    if (!introspection) {
      lastAnswer.set({
        operation: operation?.name?.value,
        variables: (asked.variables ?? {}) as Record<string, unknown>,
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

async function* subscribe(asked: FetcherParams): AsyncGenerator<ExecutionResult> {
  const abort = new AbortController();
  try {
    const response = await send(asked, 'text/event-stream', undefined, abort.signal);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      yield read(await response.text(), response);
      return;
    }
    for await (const { event, data } of events(response.body!)) {
      if (event === 'complete') return;
      if (event === 'next') yield JSON.parse(data);
    }
  } catch (problem) {
    yield failure(inWords(problem));
  } finally {
    abort.abort();
  }
}

// A refused token is replaced once: a 401 is answered before anything ran, so sending again is safe.
async function send(
  asked: FetcherParams,
  accept: string,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
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
        signal,
        headers: {
          ...headers,
          accept,
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
          'x-explain': 'cost',
          'graphql-client-name': 'bankgraph-playground',
        },
        body: JSON.stringify(asked),
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

/** Splits a stream of server-sent events into their name and data. */
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: string }> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).replaceAll('\r\n', '\n').split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const lines = block.split('\n');
        const all = (name: string) =>
          lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''));
        yield { event: all('event')[0] ?? 'message', data: all('data').join('\n') };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
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
