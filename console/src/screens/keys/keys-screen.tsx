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
import { t } from '../../words/words.ts'

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
        <h1>{t('Keys')}</h1>
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
      notify(t('The new keys are published.'))
    })
  const now = Date.now()
  return (
    <section className="card">
      <h2>{t('Signing keys')}</h2>
      <p className="hint">
        {t(
          'Keys are replaced by themselves. A rotation publishes new keys first, which sign ten minutes later; the former ones stay published until their tokens have expired, so that nobody has to sign in again.',
        )}
      </p>
      <table className="rows">
        <thead>
          <tr>
            <th scope="col">{t('Key')}</th>
            <th scope="col">{t('Algorithm')}</th>
            <th scope="col">{t('State')}</th>
            <th scope="col">{t('Signs from')}</th>
            <th scope="col">{t('Published until')}</th>
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
                  <span className="badge warning">{t('Next')}</span>
                ) : expiresAt ? (
                  <span className="badge">{t('Retiring')}</span>
                ) : (
                  <span className="badge calm">{t('Signs')}</span>
                )}
              </td>
              <td data-label={t('Signs from')}>
                <Time at={activeAt} />
              </td>
              <td data-label={t('Published until')}>
                {expiresAt ? (
                  <Time at={expiresAt} />
                ) : (
                  <span className="none">{t('its successor signs')}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {mayWrite && (
        <div className="actions">
          <ConfirmedButton
            label={t('Rotate')}
            isDestructive={false}
            title={t('Rotate the signing keys?')}
            consequence={<p>{t('New keys are published now and sign in ten minutes. Tokens stay valid.')}</p>}
            isRunning={rotate.isRunning}
            problem={rotate.problem}
            onConfirm={confirm(false)}
          />
          <ConfirmedButton
            label={t('Replace leaked keys')}
            title={t('Replace the keys at once?')}
            consequence={
              <p>
                {t(
                  'The current keys are deleted. All tokens that they signed become invalid: everybody signs in again.',
                )}
              </p>
            }
            name={t('replace')}
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
      <h2>{t('Registration tokens')}</h2>
      <p className="hint">{t('An application that has one registers itself (RFC 7591).')}</p>
      {tokens.length === 0 ? (
        <p className="empty">{t('No token is active.')}</p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">{t('Note')}</th>
              <th scope="col">{t('Registrations left')}</th>
              <th scope="col">{t('Created')}</th>
              <th scope="col">{t('Expires')}</th>
              <th scope="col">
                <span className="hidden">{t('Actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {tokens.map(({ id, note, usesLeft, createdAt, expiresAt }) => (
              <tr key={id}>
                <th scope="row">{note ?? <CopiedText text={id} />}</th>
                <td data-label={t('Registrations left')}>{usesLeft ?? t('any number')}</td>
                <td data-label={t('Created')}>
                  <Time at={createdAt} />
                </td>
                <td data-label={t('Expires')}>
                  <Time at={expiresAt} />
                </td>
                <td>
                  {mayWrite && (
                    <ConfirmedButton
                      label={t('Revoke')}
                      title={t('Revoke {note}?', { note: note ?? id })}
                      consequence={
                        <p>{t('No application can register with it any more. Those that did stay.')}</p>
                      }
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
            {t('Create a token')}
          </button>
        </div>
      )}
      {isOpen && (
        <Dialog title={t('Registration token')} isKept={token !== null} onClose={close}>
          {token === null ? (
            <form onSubmit={submit} noValidate>
              <Field label={t('Note')} name="note" problem={create.problem}>
                {(props) => <input {...props} maxLength={200} autoComplete="off" />}
              </Field>
              <Field
                label={t('Registrations')}
                name="uses"
                hint={t('Empty for any number')}
                problem={create.problem}
              >
                {(props) => <input {...props} type="number" min={1} defaultValue={1} />}
              </Field>
              <Field label={t('Days until it expires')} name="days" hint={t('1 to 30')}>
                {(props) => <input {...props} type="number" min={1} max={30} defaultValue={1} />}
              </Field>
              <ProblemText problem={create.problem} shown={['note', 'uses']} />
              <div className="actions">
                <button type="submit" className="button" disabled={create.isRunning}>
                  {t('Create')}
                </button>
              </div>
            </form>
          ) : (
            <div className="form">
              <p>{t('The token is shown only now.')}</p>
              <CopiedText text={token} />
              <div className="actions">
                <button type="button" className="button" onClick={close}>
                  {t('I have stored it')}
                </button>
              </div>
            </div>
          )}
        </Dialog>
      )}
    </section>
  )
}
