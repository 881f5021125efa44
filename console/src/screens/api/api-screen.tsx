import './api.css'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { executeDocument } from '../../api/environment.ts'
import { deployment, GRAPHQL_URL } from '../../config.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { useTypedText } from '../../parts/typed-text.ts'
import { t } from '../../words/words.ts'

const route = getRouteApi('/api')

const FIRST_QUERY = `query FirstUsers {
  users(first: 10) {
    totalSize
    nodes {
      id
      name
      email
      lastSeenAt
    }
  }
}
`

const { issuer } = deployment
const ADDRESSES = [
  ['GraphQL', GRAPHQL_URL],
  ['REST', `${issuer}/api/v1`],
  [t('Description of REST (OpenAPI 3.1)'), `${issuer}/api/v1/openapi.json`],
  [t('OpenID Provider metadata'), `${issuer}/.well-known/openid-configuration`],
] as const

/** Reads the variables. Throws SyntaxError for text that is not an object in JSON. */
function parseVariables(text: string): object {
  const variables: unknown = JSON.parse(text.trim() || '{}')
  if (typeof variables !== 'object' || variables === null || Array.isArray(variables))
    throw new SyntaxError(t('an object is expected'))
  return variables
}

/** Sends documents with the token of the console, and has the addresses of the API. The document is in the URL. */
export function ApiScreen() {
  const { query = FIRST_QUERY, variables = '' } = route.useSearch()
  const navigate = useNavigate({ from: '/api' })
  const keep = (entered: { query?: string; variables?: string | undefined }) =>
    void navigate({ search: (former) => ({ ...former, ...entered }), replace: true })
  const document = useTypedText({ text: query, onSend: (entered) => keep({ query: entered }) })
  const values = useTypedText({
    text: variables,
    onSend: (entered) => keep({ variables: entered || undefined }),
  })
  const [isRunning, setIsRunning] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [result, setResult] = useState<{ text: string; ms: number } | null>(null)
  const run = async () => {
    if (isRunning) return
    document.send()
    values.send()
    setProblem(null)
    setIsRunning(true)
    const startedAt = performance.now()
    try {
      const answer = await executeDocument(document.entered, parseVariables(values.entered))
      setResult({ text: JSON.stringify(answer, null, 2), ms: Math.round(performance.now() - startedAt) })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      setProblem(
        error instanceof SyntaxError
          ? t('The variables are not valid JSON: {message}', { message })
          : message,
      )
    } finally {
      setIsRunning(false)
    }
  }
  const handleKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    // A mutation must not be sent as often as the key repeats.
    if (!event.repeat) void run()
  }
  return (
    <section className="screen">
      <header className="screen-head">
        <h1>{t('API')}</h1>
      </header>
      <form
        className="api-runner"
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <div className="field">
          <label htmlFor="api-document">{t('Document')}</label>
          <textarea
            id="api-document"
            rows={16}
            spellCheck={false}
            value={document.entered}
            onChange={({ target }) => document.setEntered(target.value)}
            onKeyDown={handleKey}
          />
        </div>
        <div className="field">
          <label htmlFor="api-variables">{t('Variables')}</label>
          <textarea
            id="api-variables"
            rows={4}
            spellCheck={false}
            value={values.entered}
            onChange={({ target }) => values.setEntered(target.value)}
            onKeyDown={handleKey}
          />
        </div>
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <div className="actions">
          <button type="submit" className="button" disabled={isRunning}>
            {t('Send')} <kbd>Ctrl Enter</kbd>
          </button>
          <p className="hint">
            {t('It is sent with your own access token, and may do what your roles permit.')}
          </p>
        </div>
        {result && (
          <div className="field">
            <label htmlFor="api-result">{t('Result, after {ms} ms', { ms: result.ms })}</label>
            <textarea id="api-result" rows={16} readOnly value={result.text} spellCheck={false} />
          </div>
        )}
      </form>
      <section className="card">
        <h2>{t('Addresses')}</h2>
        <dl className="facts">
          {ADDRESSES.map(([name, url]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <CopiedText text={url} />
              </dd>
            </div>
          ))}
        </dl>
        <p className="actions">
          <a className="button" href={`${issuer}/api/v1/docs`} target="_blank" rel="noreferrer">
            {t('Open the reference of REST')}
          </a>
        </p>
      </section>
    </section>
  )
}
