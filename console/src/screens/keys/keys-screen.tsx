import { type FormEvent, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { keysScreenCreateMutation } from '../../generated/keysScreenCreateMutation.graphql.ts'
import type { keysScreenQuery } from '../../generated/keysScreenQuery.graphql.ts'
import type { keysScreenRevokeMutation } from '../../generated/keysScreenRevokeMutation.graphql.ts'
import type { keysScreenRotateMutation } from '../../generated/keysScreenRotateMutation.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ConfirmedButton, Dialog } from '../../parts/dialog.tsx'
import { Field, ProblemText, readText } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'

/** Signing keys and registration tokens: what the tenant signs with, and who may register applications. */
export function KeysScreen() {
  const [{ viewer, signingKeys, registrationTokens }, refresh] = useScreenQuery<keysScreenQuery>(
    graphql`
      query keysScreenQuery {
        viewer {
          eventPosition
        }
        signingKeys {
          id
          kid
          alg
          activeAt
          expiresAt
        }
        registrationTokens(first: 200) {
          nodes {
            id
            note
            usesLeft
            createdAt
            expiresAt
          }
        }
      }
    `,
    {},
  )
  const mayFollow = useMay('events:read')
  return (
    <section className="screen">
      {mayFollow && (
        <LiveChanges
          types={['KEY_ROTATED', 'REGISTRATION_TOKEN_CREATED', 'REGISTRATION_TOKEN_REVOKED']}
          after={viewer?.eventPosition}
          onChange={refresh}
        />
      )}
      <header className="screen-head">
        <h1>Keys</h1>
      </header>
      {signingKeys && <SigningKeys signingKeys={signingKeys} onChange={refresh} />}
      {registrationTokens && <RegistrationTokens tokens={registrationTokens.nodes} onChange={refresh} />}
    </section>
  )
}

type Response = keysScreenQuery['response']

function SigningKeys({
  signingKeys,
  onChange,
}: {
  signingKeys: NonNullable<Response['signingKeys']>
  onChange: () => void
}) {
  const mayWrite = useMay('tenant:write')
  const rotate = useProblemMutation<keysScreenRotateMutation>(graphql`
    mutation keysScreenRotateMutation($retireAtOnce: Boolean) {
      rotateSigningKeys(input: { retireAtOnce: $retireAtOnce }) {
        ... on RotateSigningKeysPayload {
          keys {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const confirm = (retireAtOnce: boolean) => (close: () => void) =>
    rotate.run({ retireAtOnce }, () => {
      close()
      onChange()
      notify('The new keys are published.')
    })
  const now = Date.now()
  return (
    <section className="card">
      <h2>Signing keys</h2>
      <p className="hint">
        Keys are replaced by themselves. A rotation publishes new keys first, which sign ten minutes later;
        the former ones stay published until their tokens have expired, so that nobody has to sign in again.
      </p>
      <table className="rows">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Algorithm</th>
            <th scope="col">State</th>
            <th scope="col">Signs from</th>
            <th scope="col">Published until</th>
          </tr>
        </thead>
        <tbody>
          {signingKeys.map(({ id, kid, alg, activeAt, expiresAt }) => (
            <tr key={id}>
              <th scope="row">
                <CopiedText text={kid} />
              </th>
              <td>{alg}</td>
              <td>
                {Date.parse(activeAt) > now ? (
                  <span className="badge warning">Next</span>
                ) : expiresAt ? (
                  <span className="badge">Retiring</span>
                ) : (
                  <span className="badge calm">Signs</span>
                )}
              </td>
              <td data-label="Signs from">
                <Time at={activeAt} />
              </td>
              <td data-label="Published until">
                {expiresAt ? <Time at={expiresAt} /> : <span className="none">its successor signs</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {mayWrite && (
        <div className="actions">
          <ConfirmedButton
            label="Rotate"
            title="Rotate the signing keys?"
            consequence={<p>New keys are published now and sign in ten minutes. Tokens stay valid.</p>}
            isRunning={rotate.isRunning}
            problem={rotate.problem}
            onConfirm={confirm(false)}
          />
          <ConfirmedButton
            label="Replace leaked keys"
            title="Replace the keys at once?"
            consequence={
              <p>
                The current keys are deleted. All tokens that they signed become invalid: everybody signs in
                again.
              </p>
            }
            name="replace"
            isRunning={rotate.isRunning}
            problem={rotate.problem}
            onConfirm={confirm(true)}
          />
        </div>
      )}
    </section>
  )
}

const DAY_SECONDS = 86_400

function RegistrationTokens({
  tokens,
  onChange,
}: {
  tokens: NonNullable<Response['registrationTokens']>['nodes']
  onChange: () => void
}) {
  const mayWrite = useMay('clients:write')
  const [isOpen, setIsOpen] = useState(false)
  const [token, setToken] = useState<string | null>(null)
  const create = useProblemMutation<keysScreenCreateMutation>(graphql`
    mutation keysScreenCreateMutation($input: CreateRegistrationTokenInput!) {
      createRegistrationToken(input: $input) {
        ... on CreateRegistrationTokenPayload {
          token
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const revoke = useProblemMutation<keysScreenRevokeMutation>(graphql`
    mutation keysScreenRevokeMutation($registrationTokenId: ID!) {
      revokeRegistrationToken(input: { registrationTokenId: $registrationTokenId }) {
        ... on RevokeRegistrationTokenPayload {
          revokedRegistrationTokenId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const close = () => {
    setIsOpen(false)
    setToken(null)
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const uses = readText(form, 'uses')
    const input = {
      note: readText(form, 'note') || null,
      uses: uses === '' ? null : Number(uses),
      expiresInSeconds: Number(readText(form, 'days')) * DAY_SECONDS,
    }
    create.run({ input }, ({ createRegistrationToken }) => {
      setToken(createRegistrationToken?.token ?? null)
      onChange()
    })
  }
  return (
    <section className="card">
      <h2>Registration tokens</h2>
      <p className="hint">An application that has one registers itself (RFC 7591).</p>
      {tokens.length === 0 ? (
        <p className="empty">No token is active.</p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">Note</th>
              <th scope="col">Registrations left</th>
              <th scope="col">Created</th>
              <th scope="col">Expires</th>
              <th scope="col">
                <span className="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {tokens.map(({ id, note, usesLeft, createdAt, expiresAt }) => (
              <tr key={id}>
                <th scope="row">{note ?? <CopiedText text={id} />}</th>
                <td data-label="Registrations left">{usesLeft ?? 'any number'}</td>
                <td data-label="Created">
                  <Time at={createdAt} />
                </td>
                <td data-label="Expires">
                  <Time at={expiresAt} />
                </td>
                <td>
                  {mayWrite && (
                    <ConfirmedButton
                      label="Revoke"
                      title={`Revoke ${note ?? id}?`}
                      consequence={<p>No application can register with it any more. Those that did stay.</p>}
                      isRunning={revoke.isRunning}
                      problem={revoke.problem}
                      onConfirm={(done) =>
                        revoke.run({ registrationTokenId: id }, () => {
                          done()
                          onChange()
                        })
                      }
                    />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {mayWrite && (
        <div className="actions">
          <button type="button" className="button" onClick={() => setIsOpen(true)}>
            Create a token
          </button>
        </div>
      )}
      {isOpen && (
        <Dialog title="Registration token" isKept={token !== null} onClose={close}>
          {token === null ? (
            <form onSubmit={submit} noValidate>
              <Field label="Note" name="note" problem={create.problem}>
                {(props) => <input {...props} maxLength={200} autoComplete="off" />}
              </Field>
              <Field label="Registrations" name="uses" hint="Empty for any number" problem={create.problem}>
                {(props) => <input {...props} type="number" min={1} defaultValue={1} />}
              </Field>
              <Field label="Days until it expires" name="days" hint="1 to 30">
                {(props) => <input {...props} type="number" min={1} max={30} defaultValue={1} />}
              </Field>
              <ProblemText problem={create.problem} shown={['note', 'uses']} />
              <div className="actions">
                <button type="submit" className="button" disabled={create.isRunning}>
                  Create
                </button>
              </div>
            </form>
          ) : (
            <div className="form">
              <p>The token is shown only now.</p>
              <CopiedText text={token} />
              <div className="actions">
                <button type="button" className="button" onClick={close}>
                  I have stored it
                </button>
              </div>
            </div>
          )}
        </Dialog>
      )}
    </section>
  )
}
