import { type FormEvent, useEffect, useRef, useState } from 'react';
import { signIn } from './session';
import { demoKeys, demoTenant, isLive, settings } from './settings';
import { Told } from './words';

/** The sign-in box. It asks for a token and forgets the secret's field at once. */
export function SignIn({ open, why, onClose }: { open: boolean; why?: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [tenant, setTenant] = useState(settings.demo ? demoTenant : '');
  const [key, setKey] = useState('');
  const [secret, setSecret] = useState('');
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);

  async function enter(tenant: string, key: string, secret: string) {
    setBusy(key);
    setProblem(null);
    try {
      await signIn(tenant, key, secret);
      setSecret('');
      onClose();
    } catch (failure) {
      setProblem(failure instanceof Told ? failure.message : String(failure));
    } finally {
      setBusy(null);
    }
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    void enter(tenant.trim(), key.trim(), secret);
  }

  return (
    <dialog ref={dialog} className="card signin" aria-labelledby="signin-title" onClose={onClose}>
      <header>
        <h2 id="signin-title">Sign in to the playground</h2>
        <p>The token stays in this page’s memory and is gone when you close it.</p>
      </header>

      <div role="alert">
        {(problem ?? why) && <p className="problem">{problem ?? why}</p>}
      </div>

      {settings.demo && (
        <section aria-label="Demo bank">
          <h3>Demo bank</h3>
          <div className="demo-keys">
            {demoKeys.map((demo) => (
              <button
                key={demo.key}
                type="button"
                disabled={busy !== null}
                aria-busy={busy === demo.key}
                onClick={() => enter(demoTenant, demo.key, `${demo.key}-secret`)}
              >
                <strong>{demo.who}</strong>
                <span>{demo.may}</span>
                <code>{demo.key}</code>
              </button>
            ))}
          </div>
          <h3 className="or">or with a key of your own</h3>
        </section>
      )}

      <form onSubmit={submit}>
        <label>
          Tenant
          <input value={tenant} onChange={(e) => setTenant(e.target.value)} required name="tenant" autoComplete="off" spellCheck={false} />
        </label>
        <label>
          API key
          <input value={key} onChange={(e) => setKey(e.target.value)} required name="key" autoComplete="off" spellCheck={false} />
        </label>
        <label>
          Secret
          <input value={secret} onChange={(e) => setSecret(e.target.value)} required name="secret" type="password" autoComplete="off" />
        </label>
        {tenant.trim() !== '' && isLive(tenant.trim()) && (
          <p className="notice">“{tenant.trim()}” is not a sandbox: what you change there is real.</p>
        )}
        <div className="buttons">
          <button type="button" className="plain" onClick={onClose}>
            Close
          </button>
          <button type="submit" className="primary" disabled={busy !== null}>
            {busy ? 'Signing in…' : 'Sign in'}
          </button>
        </div>
      </form>
    </dialog>
  );
}
