import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import { TRY_URL } from '../../config.ts'
import type { tryIt_client$key } from '../../generated/tryIt_client.graphql.ts'
import { Field, ProblemText } from '../../parts/form.tsx'
import { type Problem, toProblem } from '../../parts/result.ts'
import { t, tNodes } from '../../words/words.ts'
import { CodeBlock } from './code-block.tsx'
import { TRY_CHANNEL } from './try-callback.tsx'
import { type Attempt, buildTriedUrl, createAttempt, readAnswer, type Tried } from './try-sign-in.ts'
import { useUpdateClient } from './update-client.ts'

const LONGEST_SIGN_IN_MS = 3_600_000

/**
 * A real sign-in with an application, in a window of its own, whose ID token is shown decoded. For its time the
 * application has a redirect URI that leads to the console.
 */
export function TryIt({
  client: key,
  secret: known = null,
}: {
  client: tryIt_client$key
  secret?: string | null
}) {
  const client = useFragment(
    graphql`
      fragment tryIt_client on Client {
        id
        appType
        registeredBy
        callbacks
        updatedAt
        tokenEndpointAuthMethod
        requirePushedRequests
        dpopBoundAccessTokens
      }
    `,
    key,
  )
  const [secret, setSecret] = useState(known ?? '')
  const [attempt, setAttempt] = useState<Attempt | null>(null)
  const [tried, setTried] = useState<Tried | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const update = useUpdateClient()
  const isPublic = client.appType !== 'WEB'
  const hasKeys = client.tokenEndpointAuthMethod === 'PRIVATE_KEY_JWT'
  const canRedeem = isPublic || (!hasKeys && secret !== '')
  const isRegistered = client.callbacks.includes(TRY_URL)
  // The answer comes when the client has been read again.
  const latest = useRef(client)
  latest.current = client
  const change = (
    toCallbacks: (former: readonly string[]) => string[],
    onDone: () => void,
    onProblem?: () => void,
  ) => {
    const { id, callbacks, updatedAt } = latest.current
    update.run(
      { input: { clientId: id, callbacks: toCallbacks(callbacks), expectedUpdatedAt: updatedAt } },
      onDone,
      onProblem,
    )
  }
  const remove = () =>
    change(
      (former) => former.filter((url) => url !== TRY_URL),
      () => {},
    )
  const end = (error?: Error) => {
    setAttempt(null)
    if (error) setProblem(toProblem(error))
    remove()
  }
  const finish = useRef((_url: string) => {})
  finish.current = (url) => {
    if (!attempt) return
    readAnswer(client, attempt, url, canRedeem).then((answer) => {
      if (!answer) return
      setTried(answer)
      end()
    }, end)
  }
  // The page was closed before the sign-in had ended. It takes a sign-in longer than its interaction lives.
  const isLeft = useRef(isRegistered && Date.now() - Date.parse(client.updatedAt) > LONGEST_SIGN_IN_MS)
  const removeLeft = useRef(remove)
  useEffect(() => {
    if (isLeft.current) removeLeft.current()
    isLeft.current = false
  }, [])
  useEffect(() => {
    const channel = new BroadcastChannel(TRY_CHANNEL)
    channel.onmessage = ({ data }) => finish.current(String(data))
    return () => channel.close()
  }, [])
  if (client.registeredBy === 'DOCUMENT')
    return (
      <p className="empty">
        {t('The metadata document of the application has its redirect URIs: nothing can be tried from here.')}
      </p>
    )
  if (hasKeys && client.requirePushedRequests)
    return (
      <p className="empty">
        {t('Only the application can push its requests, with its key: nothing can be tried from here.')}
      </p>
    )
  const start = () => {
    setProblem(null)
    setTried(null)
    // A window that opens later than the click is blocked.
    const popup = window.open('about:blank', 'try', 'popup,width=480,height=760')
    if (!popup) {
      setProblem({ message: t('The browser has blocked the window. Allow it, and try again.'), fields: [] })
      return
    }
    const next = createAttempt(isPublic || hasKeys ? null : secret)
    const open = () => {
      setAttempt(next)
      buildTriedUrl(client, next).then(
        (url) => popup.location.assign(url),
        (error: Error) => {
          popup.close()
          end(error)
        },
      )
    }
    if (isRegistered) open()
    else
      change(
        (former) => [...former, TRY_URL],
        open,
        () => popup.close(),
      )
  }
  return (
    <section className="card form" aria-label={t('Try it')}>
      <h2>{t('Try it')}</h2>
      <p>
        {tNodes(
          'You sign in to the application as yourself, in a window. Until it is done, the application has the redirect URI {url}, which leads to this console.',
          { url: <code key="url">{TRY_URL}</code> },
        )}
      </p>
      {!isPublic && !hasKeys && known === null && (
        <Field
          label={t('Secret')}
          name="secret"
          hint={t(
            'The tokens are requested with it, and nothing keeps it. Without it, the sign-in ends with the code.',
          )}
        >
          {(props) => (
            <input
              {...props}
              type="password"
              autoComplete="off"
              value={secret}
              onChange={({ target }) => setSecret(target.value.trim())}
            />
          )}
        </Field>
      )}
      <ProblemText problem={problem ?? update.problem} />
      <div className="actions">
        <button
          type="button"
          className="button"
          disabled={update.isRunning || attempt !== null}
          onClick={start}
        >
          {t('Sign in')}
        </button>
        {isRegistered && (
          <button type="button" className="button quiet" disabled={update.isRunning} onClick={() => end()}>
            {t('Remove the redirect URI')}
          </button>
        )}
      </div>
      <div role="status">{attempt && t('Waiting for the sign-in in the window…')}</div>
      {tried && <Outcome tried={tried} clientId={client.id} />}
    </section>
  )
}

function Outcome({ tried, clientId }: { tried: Tried; clientId: string }) {
  if (tried.kind === 'tokens')
    return (
      <>
        <p>
          {t('It works. The tokens were revoked at once. Access token: {type}, {seconds} s, scopes {scope}', {
            type: tried.tokenType,
            seconds: tried.expiresIn,
            scope: tried.scope,
          })}
        </p>
        <CodeBlock name={t('Header of the ID token')} code={JSON.stringify(tried.header, null, 2)} />
        <CodeBlock name={t('Claims of the ID token')} code={JSON.stringify(tried.claims, null, 2)} />
      </>
    )
  return (
    <>
      <p>
        {tried.kind === 'code'
          ? t('The sign-in works: a code has arrived. Only the application can redeem it.')
          : t('It does not work: {error}. {description}', {
              error: tried.error,
              description: tried.description,
            })}
      </p>
      <Link className="button quiet" to="/explain" search={{ client: clientId }}>
        {t('Explain a sign-in')}
      </Link>
    </>
  )
}
