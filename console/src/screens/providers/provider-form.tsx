import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import { deployment } from '../../config.ts'
import type { providerForm_provider$data } from '../../generated/providerForm_provider.graphql.ts'
import type { providerFormCreateMutation } from '../../generated/providerFormCreateMutation.graphql.ts'
import type {
  providerFormUpdateMutation,
  providerFormUpdateMutation$variables,
} from '../../generated/providerFormUpdateMutation.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { CheckField, Field, ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import type { Problem } from '../../parts/result.ts'
import { LeavingGuard } from '../../parts/settings-form.tsx'
import { PROVIDER_TYPES, TEXT_LABELS, type TextName } from './provider-types.ts'

graphql`
  fragment providerForm_provider on IdentityProvider {
    id
    type
    name
    updatedAt
    missing
    callbackUrl
    backchannelLogoutUrl
    logoutCallbackUrl
    issuer
    clientId
    hasClientSecret
    scopes
    authorizationEndpoint
    tokenEndpoint
    userInfoEndpoint
    jwksUri
    hasIdTokenSigningKey
    idTokenSigningAlg
    platformTeamId
    platformKid
    entry
    domains
    trustEmail
    copyClaims
    claims {
      birthdate
      familyName
      gender
      givenName
      locale
      middleName
      name
      nickname
      picture
      preferredUsername
      profile
      website
      zoneinfo
    }
    usePkce
    expectNonce
    keepTokens
    upstreamLogout
    trustAcr
    trustAmr
  }
`

export type Provider = Omit<providerForm_provider$data, ' $fragmentType'>
type UpdateInput = providerFormUpdateMutation$variables['input']

/** The members as a person edits them: what is not text has a text of its own. */
type Draft = Record<TextName | 'name' | 'entry' | 'copyClaims' | 'idTokenSigningAlg', string> &
  Record<'domains' | 'claims' | 'trustAcr' | 'trustAmr', string> &
  Record<'trustEmail' | 'usePkce' | 'expectNonce' | 'keepTokens' | 'upstreamLogout', boolean>

const toPairs = (object: Record<string, unknown> | null | undefined): string =>
  Object.entries(object ?? {})
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} = ${String(value)}`)
    .join('\n')

const toLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** Lines of "name = value" as an object; null when there are none. */
function parsePairs(text: string): Record<string, string> | null {
  const pairs = toLines(text).map((line): [string, string] => {
    const separator = line.lastIndexOf('=')
    return separator < 0 ? [line, ''] : [line.slice(0, separator).trim(), line.slice(separator + 1).trim()]
  })
  return pairs.length > 0 ? Object.fromEntries(pairs) : null
}

const toDraft = (provider: Partial<Provider>): Draft => ({
  name: provider.name ?? '',
  issuer: provider.issuer ?? '',
  clientId: provider.clientId ?? '',
  // Neither is returned.
  clientSecret: '',
  idTokenSigningKey: '',
  scopes: provider.scopes ?? '',
  authorizationEndpoint: provider.authorizationEndpoint ?? '',
  tokenEndpoint: provider.tokenEndpoint ?? '',
  userInfoEndpoint: provider.userInfoEndpoint ?? '',
  jwksUri: provider.jwksUri ?? '',
  platformTeamId: provider.platformTeamId ?? '',
  platformKid: provider.platformKid ?? '',
  idTokenSigningAlg: provider.idTokenSigningAlg ?? '',
  entry: provider.entry ?? 'LINKED',
  copyClaims: provider.copyClaims ?? 'ONCE',
  domains: provider.domains?.join('\n') ?? '',
  trustAmr: provider.trustAmr?.join('\n') ?? '',
  trustAcr: toPairs(provider.trustAcr),
  claims: toPairs(provider.claims as Record<string, unknown> | null | undefined),
  trustEmail: provider.trustEmail ?? false,
  usePkce: provider.usePkce ?? true,
  expectNonce: provider.expectNonce ?? true,
  keepTokens: provider.keepTokens ?? false,
  upstreamLogout: provider.upstreamLogout ?? false,
})

/** The members of the input for what was edited. */
const toInput = (edits: Partial<Draft>): Omit<UpdateInput, 'idpId'> =>
  Object.fromEntries(
    Object.entries(edits).map(([name, value]) => {
      if (name === 'domains' || name === 'trustAmr') return [name, toLines(String(value))]
      if (name === 'claims' || name === 'trustAcr') return [name, parsePairs(String(value))]
      return [name, typeof value === 'string' ? value.trim() || null : value]
    }),
  )

const ENTRIES = {
  LINKED: 'Users who are linked',
  DOMAINS: 'Also new users with an address of the domains',
  ANYONE: 'Anybody',
}
const COPY_TIMES = { ONCE: 'When the user is created', ALWAYS: 'At each sign-in' }
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EDDSA',
  'ED25519',
  'HS256',
]
const ALGORITHM_OPTIONS = {
  '': 'Any asymmetric one',
  ...Object.fromEntries(ALGORITHMS.map((name) => [name, name])),
}

const FURTHER_TEXTS: readonly TextName[] = [
  'issuer',
  'authorizationEndpoint',
  'tokenEndpoint',
  'userInfoEndpoint',
  'jwksUri',
  'scopes',
  'idTokenSigningKey',
]

type Editing = {
  draft: Draft
  problem: Problem | null
  set: (edits: Partial<Draft>) => void
}

function TextEditor({
  name,
  editing: { draft, problem, set },
  hint,
  isMultiline = false,
  label = TEXT_LABELS[name as TextName],
}: {
  name: TextName | 'name' | 'domains' | 'claims' | 'trustAcr' | 'trustAmr'
  editing: Editing
  hint?: ReactNode
  isMultiline?: boolean
  label?: string
}) {
  return (
    <Field label={label} name={name} hint={hint} problem={problem}>
      {(props) => {
        const attributes = {
          ...props,
          value: draft[name],
          autoComplete: 'off',
          spellCheck: false,
          onChange: ({ target }: { target: { value: string } }) => set({ [name]: target.value }),
        }
        return isMultiline ? <textarea rows={3} {...attributes} /> : <input {...attributes} />
      }}
    </Field>
  )
}

function ChoiceEditor({
  name,
  label,
  options,
  editing: { draft, problem, set },
}: {
  name: 'entry' | 'copyClaims' | 'idTokenSigningAlg'
  label: string
  options: Readonly<Record<string, string>>
  editing: Editing
}) {
  return (
    <Field label={label} name={name} problem={problem}>
      {(props) => (
        <select {...props} value={draft[name]} onChange={({ target }) => set({ [name]: target.value })}>
          {Object.entries(options).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

function CheckEditor({
  name,
  label,
  hint,
  editing: { draft, problem, set },
}: {
  name: 'trustEmail' | 'usePkce' | 'expectNonce' | 'keepTokens' | 'upstreamLogout'
  label: string
  hint: string
  editing: Editing
}) {
  const found = problem?.fields.filter(({ field }) => field === name) ?? []
  return (
    <div>
      <CheckField
        label={label}
        hint={hint}
        checked={draft[name]}
        onChange={(isOn) => set({ [name]: isOn })}
      />
      {found.map(({ description }) => (
        <p key={description} className="field-problem">
          {description}
        </p>
      ))}
    </div>
  )
}

/** The hint of a secret that is stored and never shown. */
const describeSecret = (isStored: boolean | undefined): string | undefined =>
  isStored ? 'One is stored. It is not shown; another one replaces it.' : undefined

/** The members of a provider, of which the first are those that its type needs. */
function ProviderFields({
  type,
  provider,
  editing,
}: {
  type: string
  provider: Partial<Provider>
  editing: Editing
}) {
  const fields = PROVIDER_TYPES[type]?.fields ?? []
  const further = FURTHER_TEXTS.filter((name) => !fields.includes(name))
  const stored: Partial<Record<TextName, boolean | undefined>> = {
    clientSecret: provider.hasClientSecret,
    idTokenSigningKey: provider.hasIdTokenSigningKey,
  }
  const show = (name: TextName) => (
    <TextEditor
      key={name}
      name={name}
      editing={editing}
      hint={describeSecret(stored[name])}
      isMultiline={name === 'idTokenSigningKey' || (name === 'clientSecret' && type === 'APPLE')}
    />
  )
  const isFaulty = editing.problem?.fields.some(({ field }) => !fields.includes(field as TextName)) ?? false
  return (
    <>
      <TextEditor name="name" label="Name on the button" editing={editing} />
      {fields.map(show)}
      <ChoiceEditor name="entry" label="Who may enter" options={ENTRIES} editing={editing} />
      <TextEditor
        name="domains"
        label="Domains"
        isMultiline
        editing={editing}
        hint="One a line. The first page leads addresses at these domains to the provider."
      />
      <CheckEditor
        name="trustEmail"
        label="Its e-mail addresses are verified"
        hint="Required for domains."
        editing={editing}
      />
      <details open={isFaulty || undefined}>
        <summary>Endpoints, claims and protocol</summary>
        <div className="form further">
          {further.map(show)}
          <ChoiceEditor
            name="idTokenSigningAlg"
            label="Algorithm of ID tokens"
            options={ALGORITHM_OPTIONS}
            editing={editing}
          />
          <ChoiceEditor name="copyClaims" label="Claims are copied" options={COPY_TIMES} editing={editing} />
          <TextEditor
            name="claims"
            label="Copied claims"
            isMultiline
            editing={editing}
            hint="The claim of each field, such as picture = avatar_url, one a line; the standard claims when empty."
          />
          <TextEditor
            name="trustAcr"
            label="Trusted levels"
            isMultiline
            editing={editing}
            hint="The acr here of each acr there, such as gold = urn:vestibule:mfa, one a line."
          />
          <TextEditor
            name="trustAmr"
            label="Trusted methods"
            isMultiline
            editing={editing}
            hint="Values of amr that count here, such as mfa, one a line."
          />
          <CheckEditor
            name="usePkce"
            label="Use PKCE"
            hint="Off for a provider that rejects it."
            editing={editing}
          />
          <CheckEditor
            name="expectNonce"
            label="Expect the nonce"
            hint="Off for a provider that leaves it out of ID tokens."
            editing={editing}
          />
          <CheckEditor
            name="keepTokens"
            label="Keep its tokens"
            hint="Encrypted, for calls of its APIs. Off deletes them."
            editing={editing}
          />
          <CheckEditor
            name="upstreamLogout"
            label="Sign out there as well"
            hint="Users who sign out here are signed out there too."
            editing={editing}
          />
        </div>
      </details>
    </>
  )
}

const Actions = ({
  problem,
  isRunning,
  label,
  children,
}: {
  problem: Problem | null
  isRunning: boolean
  label: string
  children?: ReactNode
}) => (
  <>
    <ProblemText problem={problem} shown={[...Object.keys(toDraft({})), 'id']} />
    <div className="actions">
      <button type="submit" className="button" disabled={isRunning}>
        {label}
      </button>
      {children}
    </div>
  </>
)

/** Leads to the first field of a form that the server does not accept. */
function useFocusedProblem(problem: Problem | null) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (problem) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [problem])
  return form
}

const ID_SUFFIX = /[^A-Za-z0-9._-]+/g

/** The form of a new provider, with the URL to register there. */
export function NewProvider({
  type,
  connections,
  onDone,
  onCancel,
}: {
  type: string
  connections: string[]
  onDone: (id: string) => void
  onCancel: () => void
}) {
  const kind = PROVIDER_TYPES[type]
  const isNamed = type !== 'OIDC' && type !== 'OAUTH2'
  const label = kind?.label ?? type
  const [id, setId] = useState(isNamed ? type.toLowerCase() : '')
  const [draft, setDraft] = useState(() => toDraft({ name: isNamed ? label : '' }))
  const [edits, setEdits] = useState<Partial<Draft>>({})
  const create = useProblemMutation<providerFormCreateMutation>(graphql`
    mutation providerFormCreateMutation($input: CreateIdentityProviderInput!, $connections: [ID!]!) {
      createIdentityProvider(input: $input) {
        ... on CreateIdentityProviderPayload {
          identityProviderEdge @appendEdge(connections: $connections) {
            node {
              ...providerForm_provider @relay(mask: false)
            }
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const form = useFocusedProblem(create.problem)
  const editing: Editing = {
    draft,
    problem: create.problem,
    set: (changes) => {
      setDraft((former) => ({ ...former, ...changes }))
      setEdits((former) => ({ ...former, ...changes }))
    },
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const input = { ...toInput(edits), id: id.trim(), name: draft.name.trim(), type }
    create.run({ input: input as providerFormCreateMutation['variables']['input'], connections }, () => {
      notify(`${draft.name} is added.`)
      onDone(id.trim())
    })
  }
  return (
    <section className="card">
      <h2>New: {label}</h2>
      <form ref={form} onSubmit={submit} noValidate>
        <p className="hint">{kind?.advice}</p>
        <Field
          label="Id"
          name="id"
          hint="Letters and digits. It is part of the callback URL and never changes."
          problem={create.problem}
        >
          {(props) => (
            <input
              {...props}
              value={id}
              autoComplete="off"
              onChange={({ target }) => setId(target.value.replaceAll(ID_SUFFIX, '-'))}
            />
          )}
        </Field>
        {id && (
          <div className="field">
            <span>Register this callback URL there</span>
            <CopiedText text={`${deployment.issuer}/oidc/callback/${id}`} />
          </div>
        )}
        <ProviderFields type={type} provider={{}} editing={editing} />
        <Actions problem={create.problem} isRunning={create.isRunning} label="Add">
          <button type="button" className="button quiet" onClick={onCancel}>
            Cancel
          </button>
        </Actions>
      </form>
      {Object.keys(edits).length > 0 && !create.isRunning && <LeavingGuard isInSearch />}
    </section>
  )
}

/** The form of a provider. It sends what was changed. */
export function EditedProvider({ provider }: { provider: Provider }) {
  const [edits, setEdits] = useState<Partial<Draft>>({})
  const update = useProblemMutation<providerFormUpdateMutation>(graphql`
    mutation providerFormUpdateMutation($input: UpdateIdentityProviderInput!) {
      updateIdentityProvider(input: $input) {
        ... on UpdateIdentityProviderPayload {
          identityProvider {
            ...providerForm_provider @relay(mask: false)
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const form = useFocusedProblem(update.problem)
  const saved = toDraft(provider)
  const changed = Object.fromEntries(
    Object.entries(edits).filter(([name, value]) => value !== saved[name as keyof Draft]),
  )
  const isDirty = Object.keys(changed).length > 0
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!isDirty) return
    update.run(
      { input: { idpId: provider.id, expectedUpdatedAt: provider.updatedAt, ...toInput(changed) } },
      () => {
        setEdits({})
        notify(`${provider.name} is saved.`)
      },
    )
  }
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <ProviderFields
        type={provider.type}
        provider={provider}
        editing={{
          draft: { ...saved, ...edits },
          problem: update.problem,
          set: (changes) => setEdits((former) => ({ ...former, ...changes })),
        }}
      />
      <Actions problem={update.problem} isRunning={update.isRunning || !isDirty} label="Save">
        {isDirty && (
          <button type="button" className="button quiet" onClick={() => setEdits({})}>
            Discard
          </button>
        )}
      </Actions>
      {isDirty && <LeavingGuard isInSearch />}
    </form>
  )
}
