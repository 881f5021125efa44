import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import { deployment } from '../../config.ts'
import type { providerForm_provider$data } from '../../generated/providerForm_provider.graphql.ts'
import type { providerFormCreateMutation } from '../../generated/providerFormCreateMutation.graphql.ts'
import type {
  providerFormUpdateMutation,
  providerFormUpdateMutation$variables,
} from '../../generated/providerFormUpdateMutation.graphql.ts'
import { ChangedMeanwhile } from '../../parts/changed-meanwhile.tsx'
import { CopiedText } from '../../parts/copied-text.tsx'
import { addEdits, type Edits, type Saved, settleEdits } from '../../parts/edits.ts'
import { CheckField, Field, ProblemText, toLines } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import type { Problem } from '../../parts/result.ts'
import { LeavingGuard } from '../../parts/settings-form.tsx'
import { t } from '../../words/words.ts'
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
    hasProvenDomains
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
    organizationId
    roleClaim
    claimRoles {
      value
      appRoleId
    }
  }
`

export type Provider = Omit<providerForm_provider$data, ' $fragmentType'>
type UpdateInput = providerFormUpdateMutation$variables['input']

/** The members as a person edits them: what is not text has a text of its own. */
type Draft = Record<TextName | 'name' | 'entry' | 'copyClaims' | 'idTokenSigningAlg', string> &
  Record<'domains' | 'claims' | 'trustAcr' | 'trustAmr', string> &
  Record<'trustEmail' | 'usePkce' | 'expectNonce' | 'keepTokens' | 'upstreamLogout', boolean>

const LABELS: Readonly<Record<keyof Draft, string>> = {
  ...TEXT_LABELS,
  name: t('Name on the button'),
  entry: t('Who may enter'),
  domains: t('Domains'),
  trustEmail: t('Its e-mail addresses are verified'),
  idTokenSigningAlg: t('Algorithm of ID tokens'),
  copyClaims: t('Claims are copied'),
  claims: t('Copied claims'),
  trustAcr: t('Trusted levels'),
  trustAmr: t('Trusted methods'),
  usePkce: t('Use PKCE'),
  expectNonce: t('Expect the nonce'),
  keepTokens: t('Keep its tokens'),
  upstreamLogout: t('Sign out there as well'),
}

const toPairs = (object: Record<string, unknown> | null | undefined): string =>
  Object.entries(object ?? {})
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} = ${String(value)}`)
    .join('\n')

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

const toSaved = (provider: Provider): Saved<Draft> => ({
  values: toDraft(provider),
  updatedAt: provider.updatedAt,
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
  LINKED: t('Users who are linked'),
  DOMAINS: t('Also new users with an address of the domains'),
  ANYONE: t('Anybody'),
}
const COPY_TIMES = { ONCE: t('When the user is created'), ALWAYS: t('At each sign-in') }
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
  '': t('Any asymmetric one'),
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

/** The texts of a type: those that it needs, and the others. */
function splitTexts(type: string): { fields: readonly TextName[]; further: TextName[] } {
  const fields = PROVIDER_TYPES[type]?.fields ?? []
  return { fields, further: FURTHER_TEXTS.filter((name) => !fields.includes(name)) }
}

/** The members that the form of a type has. */
function listMembers(type: string): string[] {
  const texts: string[] = Object.values(splitTexts(type)).flat()
  return Object.keys(LABELS).filter((name) => !(name in TEXT_LABELS) || texts.includes(name))
}

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
}: {
  name: TextName | 'name' | 'domains' | 'claims' | 'trustAcr' | 'trustAmr'
  editing: Editing
  hint?: ReactNode
  isMultiline?: boolean
}) {
  return (
    <Field label={LABELS[name]} name={name} hint={hint} problem={problem}>
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
  options,
  editing: { draft, problem, set },
}: {
  name: 'entry' | 'copyClaims' | 'idTokenSigningAlg'
  options: Readonly<Record<string, string>>
  editing: Editing
}) {
  return (
    <Field label={LABELS[name]} name={name} problem={problem}>
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

const CheckEditor = ({
  name,
  hint,
  editing: { draft, problem, set },
}: {
  name: 'trustEmail' | 'usePkce' | 'expectNonce' | 'keepTokens' | 'upstreamLogout'
  hint: string
  editing: Editing
}) => (
  <CheckField
    label={LABELS[name]}
    name={name}
    hint={hint}
    problem={problem}
    checked={draft[name]}
    onChange={(isOn) => set({ [name]: isOn })}
  />
)

/** The hint of a secret that is stored and never shown. */
const describeSecret = (isStored: boolean | undefined): string | undefined =>
  isStored ? t('One is stored. It is not shown; another one replaces it.') : undefined

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
  const { fields, further } = splitTexts(type)
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
      <TextEditor name="name" editing={editing} />
      {fields.map(show)}
      <ChoiceEditor name="entry" options={ENTRIES} editing={editing} />
      <TextEditor
        name="domains"
        isMultiline
        editing={editing}
        hint={t('One a line. The first page leads addresses at these domains to the provider.')}
      />
      <CheckEditor name="trustEmail" hint={t('Required for domains.')} editing={editing} />
      <details open={isFaulty || undefined}>
        <summary>{t('Endpoints, claims and protocol')}</summary>
        <div className="form further">
          {further.map(show)}
          <ChoiceEditor name="idTokenSigningAlg" options={ALGORITHM_OPTIONS} editing={editing} />
          <ChoiceEditor name="copyClaims" options={COPY_TIMES} editing={editing} />
          <TextEditor
            name="claims"
            isMultiline
            editing={editing}
            hint={t(
              'The claim of each field, such as picture = avatar_url, one a line; the standard claims when empty.',
            )}
          />
          <TextEditor
            name="trustAcr"
            isMultiline
            editing={editing}
            hint={t('The acr here of each acr there, such as gold = urn:vestibule:mfa, one a line.')}
          />
          <TextEditor
            name="trustAmr"
            isMultiline
            editing={editing}
            hint={t('Values of amr that count here, such as mfa, one a line.')}
          />
          <CheckEditor name="usePkce" hint={t('Off for a provider that rejects it.')} editing={editing} />
          <CheckEditor
            name="expectNonce"
            hint={t('Off for a provider that leaves it out of ID tokens.')}
            editing={editing}
          />
          <CheckEditor
            name="keepTokens"
            hint={t('Encrypted, for calls of its APIs. Off deletes them.')}
            editing={editing}
          />
          <CheckEditor
            name="upstreamLogout"
            hint={t('Users who sign out here are signed out there too.')}
            editing={editing}
          />
        </div>
      </details>
    </>
  )
}

const Actions = ({
  problem,
  shown,
  isRunning,
  label,
  children,
}: {
  problem: Problem | null
  shown: readonly string[]
  isRunning: boolean
  label: string
  children?: ReactNode
}) => (
  <>
    <ProblemText problem={problem} shown={shown} />
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
  organizationId,
  connections,
  onDone,
  onCancel,
}: {
  type: string
  /** The organization that it will belong to. */
  organizationId: string | undefined
  connections: string[]
  onDone: (id: string) => void
  onCancel: () => void
}) {
  const kind = PROVIDER_TYPES[type]
  const isNamed = type !== 'OIDC' && type !== 'OAUTH2'
  const label = kind?.label ?? type
  const [id, setId] = useState(isNamed ? type.toLowerCase() : '')
  const [draft, setDraft] = useState(() =>
    // Its addresses are of the domains that the organization has proven.
    toDraft({ name: isNamed ? label : '', ...(organizationId && { entry: 'ANYONE', trustEmail: true }) }),
  )
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
    const { entry, trustEmail } = draft
    const input = {
      ...(organizationId && { organizationId, entry, trustEmail }),
      ...{ ...toInput(edits), id: id.trim(), name: draft.name.trim(), type },
    }
    create.run({ input: input as providerFormCreateMutation['variables']['input'], connections }, () => {
      notify(t('{name} is added.', { name: draft.name }))
      onDone(id.trim())
    })
  }
  return (
    <section className="card">
      <h2>{t('New: {type}', { type: label })}</h2>
      <form ref={form} onSubmit={submit} noValidate>
        <p className="hint">{kind?.advice}</p>
        <Field
          label={t('Id')}
          name="id"
          hint={t('Letters and digits. It is part of the callback URL and never changes.')}
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
            <span>{t('Register this callback URL there')}</span>
            <CopiedText text={`${deployment.issuer}/oidc/callback/${id}`} />
          </div>
        )}
        <ProviderFields type={type} provider={{}} editing={editing} />
        <Actions
          problem={create.problem}
          shown={['id', ...listMembers(type)]}
          isRunning={create.isRunning}
          label={t('Add')}
        >
          <button type="button" className="button quiet" onClick={onCancel}>
            {t('Cancel')}
          </button>
        </Actions>
      </form>
      {Object.keys(edits).length > 0 && !create.isRunning && <LeavingGuard isInSearch />}
    </section>
  )
}

/** The form of a provider. It sends what was changed. */
export function EditedProvider({ provider }: { provider: Provider }) {
  const [edits, setEdits] = useState<Edits<Draft>>(null)
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
  const saved = toSaved(provider)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!edits || update.isRunning) return
    const { values, since } = edits
    update.run(
      { input: { idpId: provider.id, expectedUpdatedAt: since.updatedAt, ...toInput(values) } },
      ({ updateIdentityProvider }) => {
        const answer = updateIdentityProvider?.identityProvider ?? provider
        setEdits((former) => settleEdits(former, values, toSaved(answer)))
        notify(t('{name} is saved.', { name: provider.name }))
      },
    )
  }
  return (
    <form ref={form} onSubmit={submit} noValidate>
      {edits && edits.since.updatedAt !== provider.updatedAt && (
        <ChangedMeanwhile edits={edits} saved={saved} labels={LABELS} setEdits={setEdits} />
      )}
      <ProviderFields
        type={provider.type}
        provider={provider}
        editing={{
          draft: { ...saved.values, ...edits?.values },
          problem: update.problem,
          set: (changes) =>
            setEdits((former) => addEdits(former, changes, { saved, isSaving: update.isRunning })),
        }}
      />
      <Actions
        problem={update.problem}
        shown={listMembers(provider.type)}
        isRunning={update.isRunning || !edits}
        label={t('Save')}
      >
        {edits && (
          <button type="button" className="button quiet" onClick={() => setEdits(null)}>
            {t('Discard')}
          </button>
        )}
      </Actions>
      {edits && <LeavingGuard isInSearch />}
    </form>
  )
}
