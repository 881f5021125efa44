import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { fetchQuery, graphql } from 'relay-runtime'
import { environment } from '../api/environment.ts'
import { CONSOLE_PATH, deployment, getConsoleUrl } from '../config.ts'
import type { boxQuery, boxQuery$data } from '../generated/boxQuery.graphql.ts'
import { type Choice, ChoiceBox } from '../parts/choice-box.tsx'
import { toPathId } from '../screens/applications/kinds.ts'
import { t } from '../words/words.ts'

type Match = NonNullable<boxQuery$data['lookup']>[number]

/** A screen or an action that the box finds by its name. */
export type Command = { name: string; run: () => void }

const WAIT_MS = 150
/** No id or address is shorter. */
const MIN_LOOKUP = 3

const KINDS: Record<Exclude<Match['kind'], '%future added value'>, string> = {
  ADDRESS: t('Address with failed sign-ins'),
  API: t('API'),
  API_KEY: t('API key'),
  APP_ROLE: t('Role at APIs'),
  BULK_JOB: t('Change of many users'),
  CLIENT: t('Application'),
  CREDENTIAL: t('Passkey or second factor'),
  DEVICE: t('Device'),
  EVENT: t('Event'),
  GROUP: t('Group'),
  IDENTITY_PROVIDER: t('Identity provider'),
  IDP_USER: t('Linked identity'),
  INVITATION: t('Invitation'),
  IP_ADDRESS: t('IP address'),
  MEMBERSHIP: t('Membership'),
  ORGANIZATION: t('Organization'),
  ORGANIZATION_DOMAIN: t('Domain of an organization'),
  REGISTRATION_TOKEN: t('Registration token'),
  REQUEST: t('Request'),
  SESSION: t('Session'),
  SIGNING_KEY: t('Signing key'),
  SUBJECT: t('Subject of events'),
  TENANT: t('Tenant'),
  TRUSTED_DOCUMENT: t('Trusted document'),
  USER: t('User'),
  WEBHOOK: t('Webhook'),
  WEBHOOK_DELIVERY: t('Message of a webhook'),
  SIGNAL_STREAM: t('Stream of shared signals'),
}

/** The screen that shows a match, below the console. */
function findScreen({ kind, id, userId, node }: Match): string {
  const encoded = encodeURIComponent(id)
  switch (kind) {
    case 'USER':
      return `/users/${encoded}`
    case 'CREDENTIAL':
    case 'SESSION':
    case 'IDP_USER':
    case 'MEMBERSHIP':
      return `/users/${encodeURIComponent(userId ?? id)}`
    case 'API':
      return `/apis/${encoded}`
    case 'APP_ROLE':
      return node?.organizationId ? `/organizations/${node.organizationId}` : `/app-roles/${encoded}`
    case 'GROUP':
      return `/groups/${encoded}`
    case 'ORGANIZATION_DOMAIN':
      return `/organizations/${node?.domainOf}`
    case 'WEBHOOK':
    case 'WEBHOOK_DELIVERY':
      return `/webhooks/${node?.webhookId ?? encoded}`
    case 'SIGNAL_STREAM':
      return `/signal-streams/${encoded}`
    case 'BULK_JOB':
      return '/users/jobs'
    case 'TRUSTED_DOCUMENT':
      return `/applications/${toPathId(node?.clientId ?? '')}?tab=documents`
    case 'CLIENT':
      return `/applications/${toPathId(id)}`
    case 'INVITATION':
      return '/invitations'
    case 'ORGANIZATION':
      return `/organizations/${encoded}`
    case 'IDENTITY_PROVIDER':
      return `/providers?open=${encoded}`
    case 'SIGNING_KEY':
    case 'REGISTRATION_TOKEN':
      return '/keys'
    case 'API_KEY':
      if (userId) return `/users/${encodeURIComponent(userId)}?tab=sign-in`
      return node?.organizationId ? `/organizations/${node.organizationId}` : '/api-keys'
    case 'TENANT':
      return '/settings'
    case 'IP_ADDRESS':
      return `/log?ip=${encoded}`
    case 'REQUEST':
      return `/log?request=${encoded}`
    default:
      return `/log?subject=${encoded}`
  }
}

/** Whether a match is a request that was rejected on a page of the sign-in. */
const isRejection = ({ kind, event }: Match): boolean =>
  kind === 'REQUEST' && ['authorize.refused', 'signin.failed'].includes(event?.typeName ?? '')

/** Finds what a text names: a screen, an action, or anything that has an id or an address. */
export function Box({ commands, onClose }: { commands: readonly Command[]; onClose: () => void }) {
  const { history } = useRouter()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [{ sought, matches }, setFound] = useState<{ sought: string; matches: readonly Match[] }>({
    sought: '',
    matches: [],
  })
  const entered = text.trim()
  useEffect(() => {
    if (entered.length < MIN_LOOKUP) return
    const timer = setTimeout(() => {
      setProblem(null)
      request = fetchQuery<boxQuery>(
        environment,
        graphql`
          query boxQuery($text: String!) {
            lookup(text: $text) {
              kind
              id
              name
              matchedBy
              userId
              event {
                typeName
              }
              node {
                ... on ApiKey {
                  organizationId
                }
                ... on AppRole {
                  organizationId
                }
                ... on OrganizationDomain {
                  domainOf: organizationId
                }
                ... on TrustedDocument {
                  clientId
                }
                ... on WebhookDelivery {
                  webhookId
                }
              }
            }
          }
        `,
        { text: entered },
      ).subscribe({
        next: ({ lookup }) => setFound({ sought: entered, matches: lookup ?? [] }),
        error: (error: Error) => setProblem(error.message),
      })
    }, WAIT_MS)
    let request: { unsubscribe: () => void } | undefined
    return () => {
      clearTimeout(timer)
      request?.unsubscribe()
    }
  }, [entered])
  const wanted = entered.toLowerCase()
  const isCurrent = sought === entered
  const choices: Choice[] = [
    ...commands
      .filter(({ name }) => name.toLowerCase().includes(wanted))
      .map(({ name, run }) => ({ key: name, name, detail: '', open: run })),
    ...(isCurrent ? matches : []).filter(isRejection).map(({ id }) => ({
      key: `explain ${id}`,
      name: t('Explain a sign-in'),
      detail: id,
      open: () => history.push(`${CONSOLE_PATH}/explain?requestId=${encodeURIComponent(id)}`),
    })),
    ...(isCurrent ? matches : []).map((match) => ({
      key: `${match.kind} ${match.id}`,
      name: match.name ?? match.id,
      detail: [KINDS[match.kind as keyof typeof KINDS], match.name && match.id].filter(Boolean).join(' · '),
      open: () => {
        if (match.kind === 'TENANT' && match.id !== deployment.tenant)
          location.assign(getConsoleUrl(match.id))
        else history.push(CONSOLE_PATH + findScreen(match))
      },
    })),
  ]
  return (
    <ChoiceBox
      title={t('Find anything')}
      label={t('A screen, an id, an address, an IP address, the number of a request, or a URL')}
      placeholder={t('A screen, or any id, address, IP, request or URL')}
      text={text}
      onType={setText}
      choices={choices}
      status={
        problem ??
        (isCurrent || entered.length < MIN_LOOKUP
          ? t('Nothing has this name, id or address.')
          : t('Searching…'))
      }
      onClose={onClose}
    />
  )
}
