import './explain.css'
import { CatchBoundary, getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, Suspense, useState } from 'react'
import { graphql, useRelayEnvironment } from 'react-relay/hooks'
import { fetchQuery } from 'relay-runtime'
import type { explainScreenFindQuery } from '../../generated/explainScreenFindQuery.graphql.ts'
import type { explainScreenQuery, SignInTransport } from '../../generated/explainScreenQuery.graphql.ts'
import { Field, ProblemText, readText } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { QueryProblem } from '../../parts/query-problem.tsx'
import { type Problem, toProblem } from '../../parts/result.ts'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { ListSkeleton } from '../../parts/skeleton.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tNodes } from '../../words/words.ts'
import { toPathId } from '../applications/kinds.ts'
import { EventList } from '../log/event-list.tsx'
import { describeStep, listValues, nameStep, RULES, type Step } from './explain-words.ts'
import { type Explanation, Remedy } from './remedy.tsx'

const route = getRouteApi('/explain')

type Search = Partial<Record<'user' | 'client' | 'request' | 'transport' | 'requestId', string>>

/** Why somebody can sign in, or cannot: the decision of a sign-in step by step, with what changes it. */
export function ExplainScreen() {
  const search: Search = route.useSearch()
  const [attempt, setAttempt] = useState(0)
  const isAsked = search.user ?? search.client ?? search.request ?? search.requestId
  const key = `${JSON.stringify(search)} ${attempt}`
  return (
    <section className="screen explain">
      <header className="screen-head">
        <h1>{t('Explain a sign-in')}</h1>
      </header>
      <div className="columns">
        <Question key={JSON.stringify(search)} search={search} />
        {isAsked ? (
          <CatchBoundary
            getResetKey={() => key}
            errorComponent={({ error }) => (
              <QueryProblem error={error} onRetry={() => setAttempt(attempt + 1)} />
            )}
          >
            <Suspense fallback={<ListSkeleton />} key={key}>
              <Answer search={search} />
            </Suspense>
          </CatchBoundary>
        ) : (
          <p className="empty">
            {t(
              'Choose a person, an application, or both; or paste the number of an error page. Nothing is sent, and nobody is signed in.',
            )}
          </p>
        )}
      </div>
    </section>
  )
}

type Found = { readonly id: string; readonly label: string }

const USER_ID = /^user_[0-9a-z]{26}$/

/** The person and the application, by whatever names them, and the request. */
function Question({ search }: { search: Search }) {
  const navigate = useNavigate({ from: '/explain' })
  const environment = useRelayEnvironment()
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isRunning, setIsRunning] = useState(false)
  const [choices, setChoices] = useState<{
    member: 'user' | 'client'
    found: readonly Found[]
    rest: Search
  } | null>(null)
  const mayReadUsers = useMay('users:read')
  const mayReadClients = useMay('clients:read')
  const mayReadLog = useMay('events:read')
  const open = (chosen: Search) => void navigate({ search: chosen })
  /** Opens the answer, or shows those of whom the name is. */
  const choose = (
    rest: Search,
    found: { user: readonly Found[] | null; client: readonly Found[] | null },
  ) => {
    const chosen = { ...rest }
    for (const member of ['user', 'client'] as const) {
      const list = found[member]
      if (list === null) continue
      const [only, another] = list
      if (!only) {
        setProblem({
          message:
            member === 'user'
              ? t('Nobody has this name, address or id.')
              : t('No application has this name or id.'),
          fields: [],
        })
        return
      }
      if (another) {
        setChoices({ member, found: list, rest: chosen })
        return
      }
      chosen[member] = only.id
    }
    open(chosen)
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const read = (name: string) => readText(form, name) || undefined
    const [person, application] = [read('user'), read('client')]
    const request = read('request')
    const rest: Search = { request, transport: request && read('transport'), requestId: read('requestId') }
    setProblem(null)
    setChoices(null)
    const isKnown = person === undefined || USER_ID.test(person)
    const isKnownClient = application === undefined || application === search.client
    if (isKnown && isKnownClient) return open({ ...rest, user: person, client: application })
    setIsRunning(true)
    fetchQuery<explainScreenFindQuery>(
      environment,
      graphql`
        query explainScreenFindQuery(
          $person: String
          $application: String
          $hasPerson: Boolean!
          $hasApplication: Boolean!
        ) {
          users(first: 8, filter: { search: $person }) @include(if: $hasPerson) {
            edges {
              node {
                id
                name
                email
                phoneNumber
              }
            }
          }
          clients(first: 8, filter: { search: $application }) @include(if: $hasApplication) {
            edges {
              node {
                id
                name
              }
            }
          }
        }
      `,
      { person, application, hasPerson: !isKnown, hasApplication: !isKnownClient },
    ).subscribe({
      next: ({ users, clients }) =>
        choose(
          { ...rest, user: isKnown ? person : undefined, client: isKnownClient ? application : undefined },
          {
            user: isKnown
              ? null
              : (users?.edges ?? []).map(({ node: { id, name, email, phoneNumber } }) => ({
                  id,
                  label: [name, email ?? phoneNumber].filter(Boolean).join(', ') || id,
                })),
            client: isKnownClient
              ? null
              : (clients?.edges ?? []).map(({ node }) => ({ id: node.id, label: node.name })),
          },
        ),
      error: (error: Error) => {
        setIsRunning(false)
        setProblem(toProblem(error))
      },
      complete: () => setIsRunning(false),
    })
  }
  return (
    <form className="card form" onSubmit={submit}>
      {mayReadUsers && (
        <Field label={t('Person')} name="user" hint={t('Name, email address, phone number or id')}>
          {(props) => <input {...props} type="text" autoComplete="off" defaultValue={search.user} />}
        </Field>
      )}
      {mayReadClients && (
        <>
          <Field label={t('Application')} name="client" hint={t('Name or client id')}>
            {(props) => <input {...props} type="text" autoComplete="off" defaultValue={search.client} />}
          </Field>
          <details open={search.request !== undefined}>
            <summary>{t('Request of the application')}</summary>
            <Field
              label={t('Authorization request')}
              name="request"
              hint={t('Its URL or query string; without it, the usual request of the application')}
            >
              {(props) => (
                <textarea
                  {...props}
                  rows={5}
                  maxLength={8000}
                  spellCheck={false}
                  defaultValue={search.request}
                />
              )}
            </Field>
            <Field label={t('Sent')} name="transport">
              {(props) => (
                <select {...props} defaultValue={search.transport ?? 'REDIRECT'}>
                  <option value="REDIRECT">{t('by the browser')}</option>
                  <option value="PUSHED">{t('pushed by the application (PAR)')}</option>
                </select>
              )}
            </Field>
          </details>
        </>
      )}
      {mayReadLog && (
        <Field
          label={t('Number of an error page')}
          name="requestId"
          hint={t('Person, application and request are those of the log.')}
        >
          {(props) => <input {...props} type="text" autoComplete="off" defaultValue={search.requestId} />}
        </Field>
      )}
      <ProblemText problem={problem} />
      {choices && (
        <fieldset className="found">
          <legend>{choices.member === 'user' ? t('Which person?') : t('Which application?')}</legend>
          {choices.found.map(({ id, label }) => (
            <button
              key={id}
              type="button"
              className="button quiet"
              onClick={() => open({ ...choices.rest, [choices.member]: id })}
            >
              {label}
            </button>
          ))}
        </fieldset>
      )}
      <div className="actions">
        <button type="submit" className="button" disabled={isRunning}>
          {t('Explain')}
        </button>
      </div>
    </form>
  )
}

function Answer({ search }: { search: Search }) {
  const [data, refresh] = useScreenQuery<explainScreenQuery>(
    graphql`
      query explainScreenQuery(
        $userId: ID
        $clientId: ID
        $request: String
        $transport: SignInTransport
        $requestId: String
      ) {
        viewer {
          eventPosition
        }
        explainSignIn(
          userId: $userId
          clientId: $clientId
          request: $request
          transport: $transport
          requestId: $requestId
        ) {
          succeeds
          userId
          clientId
          request
          scopes
          audience
          idTokenClaims
          userinfoClaims
          user {
            id
            name
            email
            phoneNumber
          }
          client {
            id
            name
            callbacks
            updatedAt
          }
          event {
            id
            ...eventList_event
          }
          steps {
            check
            outcome
            rule
            values
            error
            description
            remedy {
              action
              targetId
              parameter
              value
            }
          }
        }
      }
    `,
    {
      userId: search.user,
      clientId: search.client,
      request: search.request,
      transport: search.transport as SignInTransport | undefined,
      requestId: search.requestId,
    },
  )
  const mayReadLog = useMay('events:read')
  const { explainSignIn: explanation, viewer } = data
  if (!explanation) return <p className="empty">{t('You may not read this.')}</p>
  const { userId, clientId, event, steps } = explanation
  const after = viewer?.eventPosition
  return (
    <div className="sections">
      {mayReadLog && userId && <LiveChanges subjectId={userId} after={after} onChange={refresh} />}
      {mayReadLog && clientId && <LiveChanges subjectId={clientId} after={after} onChange={refresh} />}
      <section className="card">
        <Summary explanation={explanation} />
        <ol className="explained">
          {steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no ids, and their order is that of the decision
            <StepItem key={index} step={step} explanation={explanation} onChange={() => refresh()} />
          ))}
        </ol>
      </section>
      {event && (
        <section className="card">
          <h2>{t('In the log')}</h2>
          <EventList events={[event]} />
        </section>
      )}
      {explanation.idTokenClaims && <Claims explanation={explanation} />}
      {explanation.request && (
        <details className="card">
          <summary>{t('The request that is explained')}</summary>
          <dl className="facts">
            {[...new URLSearchParams(explanation.request)].map(([name, value]) => (
              <div key={`${name} ${value}`}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  )
}

function Summary({
  explanation: { succeeds, user, client, userId, clientId },
}: {
  explanation: Explanation
}) {
  const person = userId && (
    <Link key="person" to="/users/$userId" params={{ userId }}>
      {user?.name ?? user?.email ?? user?.phoneNumber ?? userId}
    </Link>
  )
  const application = clientId ? (
    <Link key="application" to="/applications/$clientId" params={{ clientId: toPathId(clientId) }}>
      {client?.name ?? clientId}
    </Link>
  ) : (
    t('the account pages')
  )
  const names = { person, application }
  return (
    <h2 className="summary">
      <Mark outcome={succeeds === null ? 'UNKNOWN' : succeeds ? 'PASSED' : 'FAILED'} />
      <span role="status">
        {person ? describePerson(succeeds, names) : describeRequest(succeeds === true, names)}
      </span>
    </h2>
  )
}

type Names = Readonly<Record<'person' | 'application', ReactNode>>

function describePerson(succeeds: boolean | null | undefined, names: Names): ReactNode {
  if (succeeds == null)
    return tNodes('Whether {person} can sign in at {application} depends on what you may not read', names)
  return succeeds
    ? tNodes('{person} can sign in at {application}', names)
    : tNodes('{person} cannot sign in at {application}', names)
}

const describeRequest = (isAccepted: boolean, names: Names): ReactNode =>
  isAccepted
    ? tNodes('The request of {application} is accepted', names)
    : tNodes('The request of {application} is rejected', names)

/** A sign for each outcome, which screen readers read as a word. */
const MARKS: Record<string, readonly [sign: string, label: string]> = {
  PASSED: ['✓', t('Passed')],
  ASKED: ['?', t('Asked')],
  UNAVAILABLE: ['–', t('Not available')],
  FAILED: ['✕', t('Failed')],
  UNKNOWN: ['…', t('Unknown')],
}

function Mark({ outcome }: { outcome: string }) {
  const [sign, label] = MARKS[outcome] ?? ['', outcome]
  return (
    <span className={`mark ${outcome.toLowerCase()}`}>
      <span aria-hidden="true">{sign}</span>
      <span className="hidden">{label}</span>
    </span>
  )
}

function StepItem({
  step,
  explanation,
  onChange,
}: {
  step: Step
  explanation: Explanation
  onChange: () => void
}) {
  const { outcome, rule, error, description, remedy } = step
  return (
    <li>
      <Mark outcome={outcome} />
      <div>
        <strong>{nameStep(step)}</strong>
        <span>{describeStep(step)}</span>
        {listValues(step).length > 0 && (
          <span className="values">
            {listValues(step).map((value) => (
              <code key={value}>{value}</code>
            ))}
          </span>
        )}
        <span className="decided">
          {t('Decided by: {rule}', { rule: RULES[rule] ?? rule })}
          {error && ` · ${error} · ${description}`}
        </span>
      </div>
      {remedy && <Remedy remedy={remedy} explanation={explanation} onChange={onChange} />}
    </li>
  )
}

/** What the application gets. */
function Claims({ explanation }: { explanation: Explanation }) {
  const { scopes, audience, idTokenClaims, userinfoClaims } = explanation
  return (
    <section className="card">
      <h2>{t('What the application gets')}</h2>
      <dl className="facts">
        <dt>{t('Scopes')}</dt>
        <dd>
          {scopes.map((scope) => (
            <span className="badge" key={scope}>
              {scope}
            </span>
          ))}
        </dd>
        <dt>{t('Audience')}</dt>
        <dd>{audience.join(' ')}</dd>
        <dt>{t('ID token')}</dt>
        <dd>
          <pre>{JSON.stringify(idTokenClaims, null, 2)}</pre>
        </dd>
        <dt>{t('Userinfo')}</dt>
        <dd>
          <pre>{JSON.stringify(userinfoClaims, null, 2)}</pre>
        </dd>
      </dl>
    </section>
  )
}
