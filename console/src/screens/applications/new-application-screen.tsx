import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { newApplicationScreenMutation } from '../../generated/newApplicationScreenMutation.graphql.ts'
import type { tryIt_client$key } from '../../generated/tryIt_client.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { Field, ProblemText, readText, toLines } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import './applications.css'
import { t } from '../../words/words.ts'
import { KINDS, type Kind } from './kinds.ts'
import { NewSecret } from './new-secret.tsx'
import { SnippetView } from './snippet-view.tsx'
import { SNIPPETS } from './snippets.ts'
import { TryIt } from './try-it.tsx'

const OTHER = 'other'
const KIND_NAMES = Object.keys(KINDS) as Kind[]

/** A new application: its kind, its framework and its addresses, then all that connects it. */
export function NewApplicationScreen() {
  const mayWrite = useMay('clients:write')
  const [kind, setKind] = useState<Kind>('web')
  const [framework, setFramework] = useState<string | undefined>()
  /** The redirect URIs as they were typed; null while they are those of the framework. */
  const [callbacks, setCallbacks] = useState<string | null>(null)
  const create = useProblemMutation<newApplicationScreenMutation>(graphql`
    mutation newApplicationScreenMutation($input: CreateClientInput!) {
      createClient(input: $input) {
        ... on CreateClientPayload {
          client {
            id
            name
            callbacks
            ...tryIt_client
          }
          secret
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const [created, setCreated] = useState<Created | null>(null)
  if (!mayWrite)
    return (
      <div className="outcome">
        <h1>{t('You may not create applications')}</h1>
      </div>
    )
  if (created) return <Connected created={created} kind={kind} framework={framework} />
  const offered = SNIPPETS.filter((snippet) => snippet.kind === kind)
  const chosen = framework === OTHER ? undefined : (offered.find(({ id }) => id === framework) ?? offered[0])
  const isRedirected = kind !== 'device' && kind !== 'machine'
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setFramework(chosen?.id)
    create.run(
      {
        input: {
          name: readText(form, 'name'),
          appType: KINDS[kind].appType,
          type: 'LOGIN',
          ...(isRedirected && { callbacks: toLines(readText(form, 'callbacks')) }),
        },
      },
      ({ createClient }) => {
        if (createClient?.client) setCreated({ ...createClient.client, secret: createClient.secret ?? null })
      },
    )
  }
  return (
    <section className="screen narrow">
      <header className="screen-head">
        <h1>{t('New application')}</h1>
      </header>
      <form className="card" onSubmit={submit}>
        <fieldset className="choices">
          <legend>{t('Kind')}</legend>
          {KIND_NAMES.map((name) => (
            <label key={name} className="choice">
              <input
                type="radio"
                name="kind"
                value={name}
                checked={name === kind}
                onChange={() => {
                  setKind(name)
                  setFramework(undefined)
                }}
              />
              <span>
                <strong>{KINDS[name].label}</strong>
                <span className="hint">{KINDS[name].hint}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Field
          label={t('Name')}
          name="name"
          hint={t('People see it when they sign in.')}
          problem={create.problem}
        >
          {(props) => <input {...props} required autoComplete="off" />}
        </Field>
        {offered.length > 0 && (
          <Field label={t('Built with')} name="framework">
            {(props) => (
              <select
                {...props}
                value={chosen?.id ?? OTHER}
                onChange={({ target }) => setFramework(target.value)}
              >
                {offered.map(({ id, label }) => (
                  <option key={id} value={id}>
                    {label}
                  </option>
                ))}
                <option value={OTHER}>{t('Something else')}</option>
              </select>
            )}
          </Field>
        )}
        {isRedirected && (
          <Field
            label={t('Redirect URIs')}
            name="callbacks"
            hint={t('Where people return to after the sign-in: one in each line, compared byte for byte.')}
            problem={create.problem}
          >
            {(props) => (
              <textarea
                {...props}
                rows={2}
                spellCheck={false}
                value={callbacks ?? chosen?.redirectUri ?? ''}
                onChange={({ target }) => setCallbacks(target.value)}
              />
            )}
          </Field>
        )}
        <ProblemText problem={create.problem} shown={['name', 'callbacks']} />
        <div className="actions">
          <button type="submit" className="button" disabled={create.isRunning}>
            {t('Create')}
          </button>
          <Link to="/applications" className="button quiet">
            {t('Cancel')}
          </Link>
        </div>
      </form>
    </section>
  )
}

type Created = tryIt_client$key & {
  readonly id: string
  readonly name: string
  readonly callbacks: readonly string[]
  readonly secret: string | null
}

function Connected({
  created,
  kind,
  framework,
}: {
  created: Created
  kind: Kind
  framework: string | undefined
}) {
  const navigate = useNavigate()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const open = () => void navigate({ to: '/applications/$clientId', params: { clientId: created.id } })
  return (
    <section className="screen narrow">
      <header className="screen-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {t('{name} is created', { name: created.name })}
          </h1>
          <CopiedText text={created.id} />
        </div>
        {!created.secret && (
          <button type="button" className="button" onClick={open}>
            {t('Continue')}
          </button>
        )}
      </header>
      <div className="form">
        {created.secret && <NewSecret secret={created.secret} onStored={open} />}
        <SnippetView
          kinds={[kind]}
          clientId={created.id}
          redirectUri={created.callbacks[0]}
          initial={framework}
        />
        {kind !== 'machine' && <TryIt client={created} secret={created.secret} />}
      </div>
    </section>
  )
}
