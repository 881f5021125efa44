import type { Call } from './call.ts'
import { API_KEY_OPERATIONS } from './operations/api-keys.ts'
import { BULK_JOB_OPERATIONS } from './operations/bulk-jobs.ts'
import { CLIENT_OPERATIONS } from './operations/clients.ts'
import { CONSENT_OPERATIONS } from './operations/consents.ts'
import { CREDENTIAL_OPERATIONS } from './operations/credentials.ts'
import { DAILY_COUNT_OPERATIONS } from './operations/daily-counts.ts'
import { EXPLANATION_OPERATIONS } from './operations/explanations.ts'
import { IDENTITY_PROVIDER_OPERATIONS } from './operations/identity-providers.ts'
import { INVITATION_OPERATIONS } from './operations/invitations.ts'
import { LOOKUP_OPERATIONS } from './operations/lookup.ts'
import { ORGANIZATION_DOMAIN_OPERATIONS } from './operations/organization-domains.ts'
import { ORGANIZATION_OPERATIONS } from './operations/organizations.ts'
import { PASSCODE_OPERATIONS } from './operations/passcodes.ts'
import { PERMISSION_OPERATIONS } from './operations/permissions.ts'
import { SESSION_OPERATIONS } from './operations/sessions.ts'
import { SIGNAL_STREAM_OPERATIONS } from './operations/signal-streams.ts'
import { TENANT_OPERATIONS } from './operations/tenants.ts'
import { USER_OPERATIONS } from './operations/users.ts'
import { WEBHOOK_OPERATIONS } from './operations/webhooks.ts'

/** The operations that both surfaces have, each with calls: those that are rejected come first. */
export const OPERATIONS: Record<string, Call[]> = {
  ...USER_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...PASSCODE_OPERATIONS,
  ...IDENTITY_PROVIDER_OPERATIONS,
  ...CREDENTIAL_OPERATIONS,
  ...CLIENT_OPERATIONS,
  ...API_KEY_OPERATIONS,
  ...CONSENT_OPERATIONS,
  ...INVITATION_OPERATIONS,
  ...ORGANIZATION_OPERATIONS,
  ...ORGANIZATION_DOMAIN_OPERATIONS,
  ...TENANT_OPERATIONS,
  ...LOOKUP_OPERATIONS,
  ...EXPLANATION_OPERATIONS,
  ...DAILY_COUNT_OPERATIONS,
  ...BULK_JOB_OPERATIONS,
  ...PERMISSION_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...SIGNAL_STREAM_OPERATIONS,
}
