import { session } from './session';
import { isLive } from './settings';
import { useStore } from './store';
import mark from './mark.svg';

/** The bar on top: whose data this is, and as whom. */
export function Header({ onSignIn, onSignOut }: { onSignIn: () => void; onSignOut: () => void }) {
  const state = useStore(session);
  const live = state.phase === 'in' && isLive(state.viewer.tenant);
  return (
    <header className={live ? 'bar live' : 'bar'}>
      <a className="brand" href="/playground">
        <img src={mark} alt="" width="26" height="26" />
        bankgraph
      </a>
      <h1>GraphQL playground</h1>
      {live && <strong className="live-words">Not a sandbox: changes are real</strong>}
      <nav>
        <a href="/docs">REST reference</a>
      </nav>
      {state.phase === 'in' ? (
        <div className="viewer" aria-label="Signed in as">
          <span className="chip">
            <span className="quiet">tenant</span> {state.viewer.tenant}
          </span>
          <span className="chip" title={state.viewer.keyName}>
            <span className="quiet">key</span> {state.viewer.key}
          </span>
          {state.viewer.permissions && (
            <Permissions reach={state.viewer.reach} names={state.viewer.permissions} />
          )}
          <button type="button" onClick={onSignOut}>
            Sign out
          </button>
        </div>
      ) : (
        <div className="viewer">
          <button type="button" className="call" onClick={onSignIn}>
            Sign in
          </button>
        </div>
      )}
    </header>
  );
}

// reaches are how much of the bank a caller sees, in the words of people.
const reaches: Record<string, string> = { BANK: 'Bank staff', PARTNER: 'Partner', CUSTOMER: 'Customer' };

function Permissions({ reach = '', names }: { reach?: string; names: string[] }) {
  return (
    <details className="permissions">
      <summary>
        {reaches[reach] && `${reaches[reach]}, `}
        {names.length} {names.length === 1 ? 'permission' : 'permissions'}
      </summary>
      <ul>
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </details>
  );
}
