import './api.css'
import '../../parts/tabs.css'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { linter } from '@codemirror/lint'
import { keymap } from '@codemirror/view'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { graphql, showInDocsCommand } from 'cm6-graphql'
import { type DocumentNode, Kind, OperationTypeNode, parse, print, separateOperations } from 'graphql'
import type { SubscribePayload } from 'graphql-ws'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { executeDocument, getStreams } from '../../api/environment.ts'
import { deployment, GRAPHQL_URL } from '../../config.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { Time } from '../../parts/time.tsx'
import { useTypedText } from '../../parts/typed-text.ts'
import { t } from '../../words/words.ts'
import { CodeEditor } from './code-editor.tsx'
import { SCHEMA } from './schema.ts'
import { SchemaDocs } from './schema-docs.tsx'

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

const PANELS = { result: t('Result'), docs: t('Documentation'), history: t('History') }
type Panel = keyof typeof PANELS

/** Reads the variables. Throws SyntaxError for text that is not an object in JSON. */
function parseVariables(text: string): Record<string, unknown> {
  const variables: unknown = JSON.parse(text.trim() || '{}')
  if (typeof variables !== 'object' || variables === null || Array.isArray(variables))
    throw new SyntaxError(t('an object is expected'))
  return variables as Record<string, unknown>
}

/** The operations of a document, each with its fragments; none while it is not one. The server says why. */
function readOperations(text: string): Readonly<Record<string, DocumentNode>> {
  try {
    return separateOperations(parse(text))
  } catch {
    return {}
  }
}

const isSubscription = (document: DocumentNode | undefined): boolean =>
  document?.definitions.some(
    (definition) =>
      definition.kind === Kind.OPERATION_DEFINITION &&
      definition.operation === OperationTypeNode.SUBSCRIPTION,
  ) ?? false

const MAX_SENT = 30
/** What was sent in this tab, the latest first. It is not stored: variables can have secrets. */
let sent: readonly { query: string; variables: string; at: string }[] = []
const keepSent = (query: string, variables: string): void => {
  const others = sent.filter((one) => one.query !== query || one.variables !== variables)
  sent = [{ query, variables, at: new Date().toISOString() }, ...others].slice(0, MAX_SENT)
}

const JSON_LANGUAGE = json()
const JSON_INPUT = [
  JSON_LANGUAGE,
  linter((view) => (view.state.doc.toString().trim() === '' ? [] : jsonParseLinter()(view))),
]
const MAX_STREAMED = 50

/** Sends documents with the token of the console, and has the schema and the addresses of the API. The document is in the URL. */
export function ApiScreen() {
  const { query = FIRST_QUERY, variables = '', panel, doc, find = '' } = route.useSearch()
  const shown: Panel = panel !== undefined && Object.hasOwn(PANELS, panel) ? (panel as Panel) : 'result'
  const navigate = useNavigate({ from: '/api' })
  const keep = (entered: Partial<ReturnType<typeof route.useSearch>>) =>
    void navigate({ search: (former) => ({ ...former, ...entered }), replace: true })
  const document = useTypedText({ text: query, onSend: (entered) => keep({ query: entered }) })
  const values = useTypedText({
    text: variables,
    onSend: (entered) => keep({ variables: entered || undefined }),
  })
  const [name, setName] = useState('')
  const [running, setRunning] = useState<{ stop?: () => void } | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [result, setResult] = useState<{ text: string; ms: number } | null>(null)
  const operations = useMemo(() => readOperations(document.entered), [document.entered])
  const names = Object.keys(operations)
  const chosen = names.includes(name) ? name : (names[0] ?? '')
  const operation = operations[chosen]
  const openDocs = (field?: string, type?: string, owner?: string): void =>
    void navigate({
      search: (former) => ({
        ...former,
        panel: 'docs',
        find: undefined,
        doc: owner && field ? `${owner}.${field}` : (type ?? '').replace(/\W/g, ''),
      }),
    })
  const latest = useRef(openDocs)
  latest.current = openDocs
  const language = useMemo(
    () => [
      graphql(SCHEMA, { onShowInDocs: (...place) => latest.current(...place) }),
      keymap.of([{ key: 'F1', run: showInDocsCommand }]),
    ],
    [],
  )
  const stop = useRef<() => void>(null)
  stop.current = running?.stop ?? null
  useEffect(() => () => stop.current?.(), [])
  const show = (text: unknown, startedAt: number) =>
    setResult({ text: JSON.stringify(text, null, 2), ms: Math.round(performance.now() - startedAt) })
  const follow = async (params: SubscribePayload, startedAt: number) => {
    const client = await getStreams()
    const events: unknown[] = []
    setResult(null)
    const end = (error?: unknown): void => {
      if (error) setProblem(error instanceof Error ? error.message : JSON.stringify(error))
      setRunning(null)
    }
    const unsubscribe = client.subscribe(params, {
      next: (event) => {
        events.unshift(event)
        show(events.slice(0, MAX_STREAMED), startedAt)
      },
      error: end,
      complete: end,
    })
    setRunning({
      stop: () => {
        unsubscribe()
        setRunning(null)
      },
    })
  }
  const run = async () => {
    if (running) return
    document.send()
    values.send()
    if (panel) keep({ panel: undefined })
    setProblem(null)
    setRunning({})
    const startedAt = performance.now()
    try {
      const params = {
        // The server takes documents of one operation.
        query: operation && names.length > 1 ? print(operation) : document.entered,
        variables: parseVariables(values.entered),
      }
      keepSent(document.entered, values.entered)
      if (isSubscription(operation)) return await follow(params, startedAt)
      show(await executeDocument(params), startedAt)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      setProblem(
        error instanceof SyntaxError
          ? t('The variables are not valid JSON: {message}', { message })
          : message,
      )
    }
    setRunning(null)
  }
  const handleKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    event.stopPropagation()
    // A mutation must not be sent as often as the key repeats.
    if (!event.repeat) void run()
  }
  return (
    <section className="screen api-screen">
      <header className="screen-head">
        <h1>{t('API')}</h1>
      </header>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="api-runner">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void run()
          }}
          onKeyDownCapture={handleKey}
        >
          <h2>{t('Document')}</h2>
          <CodeEditor
            label={t('Document')}
            text={document.entered}
            extensions={language}
            hasNumbers
            onChange={document.setEntered}
          />
          <h2>{t('Variables')}</h2>
          <CodeEditor
            label={t('Variables')}
            text={values.entered}
            extensions={JSON_INPUT}
            onChange={values.setEntered}
          />
          <div className="actions">
            <button type="submit" className="button" disabled={running !== null}>
              {t('Send')} <kbd>Ctrl Enter</kbd>
            </button>
            {running?.stop && (
              <button type="button" className="button quiet" onClick={running.stop}>
                {t('Stop')}
              </button>
            )}
            {names.length > 1 && (
              <select
                aria-label={t('Operation')}
                value={chosen}
                onChange={({ target }) => setName(target.value)}
              >
                {names.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            )}
            <p className="hint">
              {t(
                'It is sent with your own access token, and may do what your roles permit. Ctrl Space completes, F1 explains.',
              )}
            </p>
          </div>
        </form>
        <div className="api-panel">
          <nav aria-label={t('Panels')} className="tabs">
            {Object.entries(PANELS).map(([one, label]) => (
              <Link
                key={one}
                to="/api"
                search={(former) => ({ ...former, panel: one === 'result' ? undefined : one })}
                resetScroll={false}
                activeProps={{}}
                aria-current={shown === one ? 'page' : undefined}
              >
                {label}
              </Link>
            ))}
          </nav>
          {shown === 'docs' && (
            <SchemaDocs doc={doc} search={find} onSearch={(sought) => keep({ find: sought || undefined })} />
          )}
          {shown === 'history' && (
            <History
              onOpen={(one) => {
                keep({ query: one.query, variables: one.variables || undefined, panel: undefined })
              }}
            />
          )}
          {shown === 'result' && (
            <>
              <p className="hint" role="status">
                {result ? t('Result, after {ms} ms', { ms: result.ms }) : t('The result is shown here.')}
              </p>
              <CodeEditor
                label={t('Result')}
                text={result?.text ?? ''}
                extensions={JSON_LANGUAGE}
                hasNumbers
              />
            </>
          )}
        </div>
      </div>
      <section className="card">
        <h2>{t('Addresses')}</h2>
        <dl className="facts">
          {ADDRESSES.map(([label, url]) => (
            <div key={label}>
              <dt>{label}</dt>
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

/** What was sent in this tab. */
function History({ onOpen }: { onOpen: (one: (typeof sent)[number]) => void }) {
  if (sent.length === 0) return <p className="empty">{t('Nothing was sent since the page was loaded.')}</p>
  return (
    <ul className="api-history">
      {sent.map((one) => (
        <li key={one.at}>
          <button type="button" className="link" onClick={() => onOpen(one)}>
            <code>{one.query.trim().replaceAll(/\s+/g, ' ').slice(0, 120)}</code>
          </button>{' '}
          <Time at={one.at} />
        </li>
      ))}
    </ul>
  )
}
