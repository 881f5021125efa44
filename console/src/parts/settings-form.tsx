import { useRouter } from '@tanstack/react-router'
import {
  createContext,
  type FormEvent,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { fetchQuery, graphql, useLazyLoadQuery, useRelayEnvironment } from 'react-relay/hooks'
import type {
  settingsFormMutation,
  settingsFormMutation$variables,
} from '../generated/settingsFormMutation.graphql.ts'
import type { settingsFormQuery, settingsFormQuery$data } from '../generated/settingsFormQuery.graphql.ts'
import type { settingsFormSubscription } from '../generated/settingsFormSubscription.graphql.ts'
import { useMay } from '../shell/viewer-scopes.ts'
import { Dialog } from './dialog.tsx'
import { dropSent } from './edits.ts'
import { ProblemText } from './form.tsx'
import { useLive } from './live-events.ts'
import { useProblemMutation } from './mutation.ts'
import { notify } from './notices.tsx'
import type { Problem } from './result.ts'
import './settings-form.css'
import { t } from '../words/words.ts'

type Input = settingsFormMutation$variables['input']
export type SettingName = Exclude<keyof Input, 'expectedUpdatedAt'>
type SecretName = 'mailServerPassword' | 'smsGatewayToken'
/** The settings, and secrets that are typed: no answer has them. */
export type Settings = NonNullable<settingsFormQuery$data['tenant']>['settings'] & {
  [Name in SecretName]?: string | null
}

/** How people call each setting. */
const SETTING_LABELS: Record<SettingName, string> = {
  signInMethods: t('Sign-in methods'),
  passcodeChannels: t('Codes are sent by'),
  offerPasskey: t('Offer a passkey'),
  signUp: t('New accounts'),
  signUpDomains: t('Domains that may sign up'),
  signUpFields: t('Fields of the sign-up'),
  invitationLifetimeSeconds: t('Lifetime of an invitation'),
  termsUrl: t('Terms of use'),
  termsVersion: t('Version of the terms'),
  privacyUrl: t('Privacy policy'),
  secondFactor: t('Second factor is presented by'),
  secondFactorRoles: t('Roles that need a second factor'),
  recoveryWaitingTime: t('Wait before a recovery link works'),
  staySignedIn: t('When the browser is closed'),
  sessionIdleSeconds: t('A session ends without use after'),
  sessionLifetimeSeconds: t('A session ends in any case after'),
  newDeviceNotice: t('Mail about a new browser'),
  accountDeletionDays: t('Days until an account is deleted'),
  migrationEndsAt: t('Old passwords are accepted until'),
  proofUrl: t('URL that is asked about old passwords'),
  networkCodeLimit: t('Unused codes of a network in an hour'),
  networkFailureLimit: t('Wrong codes of a network in an hour'),
  smsDailyLimit: t('Text messages in a day'),
  smsPrefixLimit: t('Text messages to neighboring numbers in an hour'),
  smsCountries: t('Countries of text messages'),
  phoneCountry: t('Country of numbers without a country code'),
  friendlyName: t('Name'),
  supportUrl: t('Help page'),
  defaultLocale: t('Language of people of whom none is known'),
  userApiKeys: t('People create API keys of their own'),
  apiKeyLifetimeSeconds: t('Longest lifetime of an API key'),
  acceptedDocuments: t('GraphQL documents that are accepted'),
  eventRetentionDays: t('Days for which the log is kept'),
  loginUrl: t('Start page of sign-ins'),
  defaultAudience: t('Audience of access tokens'),
  defaultScopes: t('Scopes of requests that name none'),
  dynamicRegistration: t('Registration with a token'),
  openRegistration: t('Registration by anybody'),
  clientIdMetadataDocuments: t('Clients that are a URL'),
  themeColor: t('Color'),
  darkThemeColor: t('Color on dark screens'),
  logoUrl: t('Logo'),
  darkLogoUrl: t('Logo on dark screens'),
  faviconUrl: t('Icon of browser tabs'),
  cornerRadius: t('Radius of corners'),
  font: t('Font'),
  mailSenderName: t('Name of the sender'),
  mailSenderAddress: t('Address of the sender'),
  mailReplyTo: t('Address for replies'),
  mailServer: t('Mail server'),
  mailServerUser: t('User of the mail server'),
  mailServerPassword: t('Password of the mail server'),
  smsGatewayUrl: t('URL of the gateway'),
  smsGatewayToken: t('Token of the gateway'),
  textOverrides: t('Texts'),
}
const SETTING_NAMES = Object.keys(SETTING_LABELS) as SettingName[]

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const listLabels = (names: readonly SettingName[]): string =>
  names.map((name) => SETTING_LABELS[name]).join(', ')

function describeValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return t('not set')
  if (typeof value === 'boolean') return value ? t('on') : t('off')
  if (Array.isArray(value)) return value.length === 0 ? t('empty') : value.map(describeValue).join(', ')
  return typeof value === 'object' ? Object.values(value).filter(Boolean).join(' ') : String(value)
}

/** What another administrator has saved while the form is open. */
type News = { person: string; names: readonly SettingName[] }

type FormState = {
  /** The settings as the form shows them. */
  values: Settings
  /** Those of them that differ from what is saved. */
  changed: readonly SettingName[]
  problem: Problem | null
  /** The settings that have a field at present, by the ids of their fields. */
  shown: Map<string, SettingName>
  set: <Name extends SettingName>(name: Name, value: Settings[Name]) => void
}

const FormContext = createContext<FormState | null>(null)

/** The form around a field. */
export function useSettings(): FormState {
  const state = useContext(FormContext)
  if (!state) throw new Error(t('A setting is outside of its form.'))
  return state
}

/** A setting: its label, its value in the form, and how it changes. */
export function useSetting<Name extends SettingName>(name: Name) {
  const { values, set, problem, shown } = useSettings()
  const id = useId()
  useEffect(() => {
    shown.set(id, name)
    return () => void shown.delete(id)
  }, [shown, id, name])
  return {
    label: SETTING_LABELS[name],
    value: values[name],
    change: (value: Settings[Name]) => set(name, value),
    problem,
  }
}

graphql`
  fragment settingsForm_tenant on Tenant {
    id
    updatedAt
    settings {
      signInMethods
      passcodeChannels
      offerPasskey
      signUp
      signUpDomains
      signUpFields {
        field
        label
        required
        schema {
          type
          enum
          format
          minLength
          maxLength
          minimum
          maximum
        }
      }
      invitationLifetimeSeconds
      termsUrl
      termsVersion
      privacyUrl
      secondFactor
      secondFactorRoles
      recoveryWaitingTime
      staySignedIn
      sessionIdleSeconds
      sessionLifetimeSeconds
      newDeviceNotice
      accountDeletionDays
      migrationEndsAt
      proofUrl
      networkCodeLimit
      networkFailureLimit
      smsDailyLimit
      smsPrefixLimit
      smsCountries
      phoneCountry
      friendlyName
      supportUrl
      defaultLocale
      userApiKeys
      apiKeyLifetimeSeconds
      acceptedDocuments
      eventRetentionDays
      loginUrl
      defaultAudience
      defaultScopes
      dynamicRegistration
      openRegistration
      clientIdMetadataDocuments
      themeColor
      darkThemeColor
      logoUrl
      darkLogoUrl
      faviconUrl
      cornerRadius
      font
      mailSenderName
      mailSenderAddress
      mailReplyTo
      mailServer
      mailServerUser
      smsGatewayUrl
      textOverrides {
        locale
        key
        text
      }
    }
  }
`

const QUERY = graphql`
  query settingsFormQuery {
    viewer {
      eventPosition
    }
    tenant {
      ...settingsForm_tenant @relay(mask: false)
    }
  }
`

/**
 * The settings of the tenant as a form. A change of another administrator appears at once in what is not edited; of what
 * is, the form says so and keeps what was typed.
 */
export function SettingsForm({
  title,
  aside,
  children,
}: {
  title: string
  /** What stays beside the form. */
  aside?: ReactNode
  children: ReactNode
}) {
  const { tenant, viewer } = useLazyLoadQuery<settingsFormQuery>(
    QUERY,
    {},
    { fetchPolicy: 'store-and-network' },
  )
  if (!tenant) return <p className="empty">{t('You may not read the settings.')}</p>
  return (
    <EditedSettings title={title} tenant={tenant} after={viewer?.eventPosition} aside={aside}>
      {children}
    </EditedSettings>
  )
}

function EditedSettings({
  title,
  tenant,
  after,
  aside,
  children,
}: {
  title: string
  tenant: NonNullable<settingsFormQuery$data['tenant']>
  after: string | null | undefined
  aside: ReactNode
  children: ReactNode
}) {
  const mayWrite = useMay('tenant:write')
  const form = useRef<HTMLFormElement>(null)
  const saved: Settings = tenant.settings
  const [edits, setEdits] = useState<Partial<Settings>>({})
  const [news, setNews] = useState<News | null>(null)
  const environment = useRelayEnvironment()
  const save = useProblemMutation<settingsFormMutation>(graphql`
    mutation settingsFormMutation($input: UpdateTenantSettingsInput!) {
      updateTenantSettings(input: $input) {
        ... on UpdateTenantSettingsPayload {
          tenant {
            ...settingsForm_tenant @relay(mask: false)
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const changed = SETTING_NAMES.filter((name) => name in edits && !isSame(edits[name], saved[name]))
  const isDirty = changed.length > 0
  const [shown] = useState(() => new Map<string, SettingName>())

  /** The settings that the form knows to be saved: what differs from them is another administrator's. */
  const known = useRef<Settings>(saved)
  const refresh = (person: string): void => {
    fetchQuery<settingsFormQuery>(environment, QUERY, {}).subscribe({
      next: (answer) => {
        if (!answer.tenant) return
        const settings: Settings = answer.tenant.settings
        const names = SETTING_NAMES.filter((name) => !isSame(known.current[name], settings[name]))
        known.current = settings
        if (names.length > 0) setNews({ person, names })
      },
      // The next event refreshes again, and a save of old settings is a conflict.
      error: () => {},
    })
  }
  /** An event that arrives while a save is under way may be its own. It is looked at afterwards. */
  const isSaving = useRef(false)
  const missed = useRef<string | null>(null)
  useLive<settingsFormSubscription>({
    subscription: graphql`
      subscription settingsFormSubscription($after: String) {
        events(types: [TENANT_UPDATED], after: $after) {
          id
          position
          actor {
            user {
              id
              name
              email
            }
            client {
              id
              name
            }
          }
        }
      }
    `,
    variables: { after },
    onNext: (response) => {
      const { user, client } = response?.events.actor ?? {}
      const person = user?.name ?? user?.email ?? client?.name ?? t('Somebody')
      if (isSaving.current) missed.current = person
      else refresh(person)
    },
  })

  const send = (
    sent: Partial<Settings>,
    expectedUpdatedAt: string | undefined,
    { onDone, onProblem }: { onDone?: (updatedAt?: string) => void; onProblem?: (problem: Problem) => void },
  ): void => {
    isSaving.current = true
    const settle = (fallback: string | null): void => {
      isSaving.current = false
      const person = missed.current ?? fallback
      missed.current = null
      if (person) refresh(person)
    }
    save.run(
      { input: { ...toInput(sent), expectedUpdatedAt } },
      ({ updateTenantSettings }) => {
        known.current = updateTenantSettings?.tenant?.settings ?? known.current
        // What was typed while the save was under way is kept.
        setEdits((typed) => dropSent(typed, sent))
        setNews(null)
        settle(null)
        onDone?.(updateTenantSettings?.tenant?.updatedAt)
      },
      (problem) => {
        // Of a conflict, the event may not have arrived yet.
        settle(t('Somebody'))
        onProblem?.(problem)
      },
    )
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!isDirty || save.isRunning) return
    const former = pick(saved, changed)
    send(pick(edits, changed), tenant.updatedAt, {
      onDone: (updatedAt) =>
        notify(t('Saved: {changed}.', { changed: listLabels(changed) }), () =>
          // The screen may be left by then, and its form with it.
          send(former, updatedAt, {
            onProblem: ({ message }) => notify(t('Not undone: {message}', { message })),
          }),
        ),
    })
  }
  useEffect(() => {
    if (!save.problem) return
    form.current?.querySelector('.field-problem')?.scrollIntoView({ block: 'center' })
    form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [save.problem])

  const contested = news?.names.filter((name) => changed.includes(name)) ?? []
  return (
    <FormContext
      value={{
        values: { ...saved, ...edits },
        changed,
        problem: save.problem,
        shown,
        set: (name, value) => setEdits((former) => ({ ...former, [name]: value })),
      }}
    >
      <section className="screen">
        <header className="screen-head">
          <h1>{title}</h1>
          {!mayWrite && <span className="badge">{t('Your role reads these settings')}</span>}
        </header>
        <div role="status">
          {news && (
            <div className="card news">
              <p>
                {t('{person} changed: {settings}.', {
                  person: news.person,
                  settings: listLabels(news.names),
                })}{' '}
                {contested.length > 0 && t('What you have typed is kept.')}
              </p>
              {contested.map((name) => (
                <p key={name}>
                  {t('{setting} is now “{value}”.', {
                    setting: SETTING_LABELS[name],
                    value: describeValue(saved[name]),
                  })}
                  <button
                    type="button"
                    className="button quiet"
                    onClick={() => setEdits(({ [name]: _, ...others }) => others)}
                  >
                    {t('Take it')}
                  </button>
                </p>
              ))}
              <button type="button" className="button quiet" onClick={() => setNews(null)}>
                {t('Understood')}
              </button>
            </div>
          )}
        </div>
        <div className={aside ? 'beside' : undefined}>
          <form ref={form} onSubmit={submit} noValidate>
            <fieldset className="plain" disabled={!mayWrite}>
              {children}
            </fieldset>
            {(isDirty || save.problem) && (
              <div className="save-bar card">
                <ProblemText problem={save.problem} shown={[...shown.values()]} />
                <p className="truncated">{t('Not saved: {settings}', { settings: listLabels(changed) })}</p>
                <button type="button" className="button quiet" onClick={() => setEdits({})}>
                  {t('Discard')}
                </button>
                <button type="submit" className="button" disabled={!isDirty || save.isRunning}>
                  {t('Save')}
                </button>
              </div>
            )}
          </form>
          {aside}
        </div>
      </section>
      {isDirty && <LeavingGuard />}
    </FormContext>
  )
}

const pick = (settings: Partial<Settings>, names: readonly SettingName[]): Partial<Settings> =>
  Object.fromEntries(names.map((name) => [name, settings[name]]))

/** Lists of texts are typed as lines, of which some may be empty. */
function trimLines(value: unknown): unknown {
  if (Array.isArray(value))
    return value.every((line) => typeof line === 'string')
      ? value.map((line) => line.trim()).filter(Boolean)
      : value.map(trimLines)
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, trimLines(member)]))
    : value
}

const toInput = (settings: Partial<Settings>): Input => trimLines(settings) as Input

/**
 * Asks before the screen, or the page, is left with changes that are not saved. `isInSearch`: the search of the URL says
 * which object is edited.
 */
export function LeavingGuard({
  isInSearch = false,
  title = t('Leave without saving?'),
  children = t('What you have changed here is lost.'),
}: {
  isInSearch?: boolean
  title?: string
  children?: string
}) {
  const { history } = useRouter()
  const [answer, setAnswer] = useState<((stays: boolean) => void) | null>(null)
  useEffect(
    () =>
      history.block({
        blockerFn: ({ currentLocation, nextLocation }) =>
          currentLocation.pathname === nextLocation.pathname &&
          (!isInSearch || currentLocation.href === nextLocation.href)
            ? false
            : new Promise<boolean>((resolve) =>
                setAnswer(() => (stays: boolean) => {
                  setAnswer(null)
                  resolve(stays)
                }),
              ),
        enableBeforeUnload: true,
      }),
    [history, isInSearch],
  )
  if (!answer) return null
  return (
    <Dialog title={title} onClose={() => answer(true)}>
      <p>{children}</p>
      <div className="actions">
        <button type="button" className="button" onClick={() => answer(true)}>
          {t('Stay')}
        </button>
        <button type="button" className="button danger" onClick={() => answer(false)}>
          {t('Leave')}
        </button>
      </div>
    </Dialog>
  )
}
