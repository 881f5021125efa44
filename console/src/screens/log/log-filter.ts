import type { EventFilter, EventType } from '../../generated/logScreenQuery.graphql.ts'
import { type Filter, type ListValues, toRange } from '../../parts/filter-bar.tsx'
import { t } from '../../words/words.ts'

/** Types of events that are sought together. */
const KINDS: Record<string, { label: string; types: readonly EventType[] }> = {
  failures: {
    label: t('Failed sign-ins and refused requests'),
    types: ['SIGNIN_FAILED', 'PASSCODE_FAILED', 'AUTHORIZE_REFUSED', 'TOKEN_REFUSED'],
  },
  sessions: {
    label: t('Sign-ins and sessions'),
    types: ['SESSION_STARTED', 'SESSION_REAUTHENTICATED', 'SESSION_REFRESHED', 'SESSION_ENDED'],
  },
  users: {
    label: t('Users, locks and roles'),
    types: [
      'USER_CREATED',
      'USER_UPDATED',
      'USER_DELETED',
      'USER_LOCKED',
      'USER_UNLOCKED',
      'USER_LIMITS_RESET',
      'USER_DELETION_REQUESTED',
      'USER_DELETION_CANCELED',
      'USER_TERMS_ACCEPTED',
      'ROLE_CHANGED',
      'MANAGEMENT_ROLE_CREATED',
      'MANAGEMENT_ROLE_UPDATED',
      'MANAGEMENT_ROLE_DELETED',
      'BULK_JOB_STARTED',
      'BULK_JOB_FINISHED',
    ],
  },
  credentials: {
    label: t('Passkeys and second factors'),
    types: [
      'CREDENTIAL_ENROLLED',
      'CREDENTIAL_REVOKED',
      'CREDENTIAL_ENROLLMENT_CREATED',
      'CREDENTIAL_ENROLLMENT_CANCELED',
      'CREDENTIAL_ENROLLMENT_FAILED',
      'CREDENTIAL_RECOVERY_CODE_USED',
      'CREDENTIAL_COUNTER_DECREASED',
    ],
  },
  applications: {
    label: t('Applications'),
    types: [
      'CLIENT_CREATED',
      'CLIENT_UPDATED',
      'CLIENT_DELETED',
      'REGISTRATION_TOKEN_CREATED',
      'REGISTRATION_TOKEN_REVOKED',
    ],
  },
  grants: {
    label: t('Grants and consents'),
    types: ['GRANT_CREATED', 'GRANT_REFRESHED', 'GRANT_REVOKED', 'CONSENT_GRANTED', 'CONSENT_REVOKED'],
  },
  providers: {
    label: t('Identity providers'),
    types: [
      'IDP_CREATED',
      'IDP_UPDATED',
      'IDP_DELETED',
      'IDP_TESTED',
      'IDPUSER_LINKED',
      'IDPUSER_LINK_FAILED',
      'IDPUSER_UNLINKED',
    ],
  },
  invitations: {
    label: t('Invitations'),
    types: [
      'INVITATION_CREATED',
      'INVITATION_RESENT',
      'INVITATION_ACCEPTED',
      'INVITATION_FAILED',
      'INVITATION_REVOKED',
    ],
  },
  organizations: {
    label: t('Organizations'),
    types: [
      'ORGANIZATION_CREATED',
      'ORGANIZATION_UPDATED',
      'ORGANIZATION_DELETED',
      'MEMBERSHIP_CREATED',
      'MEMBERSHIP_DELETED',
    ],
  },
  settings: {
    label: t('Settings and keys'),
    types: [
      'TENANT_UPDATED',
      'TENANT_DELIVERY_FAILING',
      'TENANT_DELIVERY_RECOVERED',
      'TENANT_CREATED',
      'TENANT_DELETED',
      'KEY_ROTATED',
    ],
  },
}

export const FILTERS: readonly Filter[] = [
  {
    name: 'kind',
    label: t('Kind'),
    kind: 'choice',
    options: Object.entries(KINDS).map(([value, { label }]) => [value, label] as const),
  },
  { name: 'subject', label: t('About'), kind: 'text', placeholder: t('id of a user, application, …') },
  { name: 'actor', label: t('By'), kind: 'text', placeholder: t('id of a user or application') },
  { name: 'address', label: t('Failed address'), kind: 'text', placeholder: t('e-mail or phone number') },
  { name: 'ip', label: 'IP', kind: 'text', placeholder: t('192.0.2.1 or 192.0.2.0/24') },
  { name: 'request', label: t('Request'), kind: 'text', placeholder: t('number of an error page') },
  { name: 'from', label: t('From'), kind: 'day', daysAgo: 7 },
  { name: 'before', label: t('Before'), kind: 'day', daysAgo: 0 },
]

/** The types of a kind; null for all. */
export const getTypes = ({ kind }: ListValues): readonly EventType[] | null =>
  KINDS[kind ?? '']?.types ?? null

/** The filter of the API; null when no value is set. */
export function toEventFilter(values: ListValues): EventFilter | null {
  const filter = {
    types: getTypes(values),
    subjectId: values.subject,
    actorId: values.actor,
    address: values.address,
    ip: values.ip,
    requestId: values.request,
    occurredAt: toRange(values.from, values.before),
  }
  return Object.values(filter).some((value) => value !== undefined && value !== null) ? filter : null
}

/** The filters that a stream of events can apply. */
const FOLLOWED = new Set(['kind', 'ip', 'subject'])

/** Whether a stream of events can apply the filter. */
export const canFollow = (values: ListValues): boolean =>
  FILTERS.every(({ name }) => FOLLOWED.has(name) || values[name] === undefined)

/** The filter that a pasted text means: an address, an IP address or network, an id, or the number of a request. */
export function recognize(text: string): string {
  if (/^[0-9a-f.:]+(\/\d+)?$/i.test(text) && /\.\d|:.*:/.test(text)) return 'ip'
  if (text.includes('@') || /^\+?[\d ()-]{6,}$/.test(text)) return 'address'
  return /^[a-z]+_[0-9a-z]{20,}$/.test(text) ? 'subject' : 'request'
}
