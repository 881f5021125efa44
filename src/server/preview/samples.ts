import { buildTotpUri, renderQrCode } from '../../credentials/second-factors/totp.ts'
import type { PageTenant } from '../../pages/page-shell.pages.tsx'

/** What the pages of a sample contain. The client has no color of its own. */
export const CLIENT = { name: 'Example app' }
/** Where a client starts a sign-in. */
export const APP_URL = 'https://app.example.com/'
export const PERSON = { name: 'Ada Lovelace', email: 'ada@example.com' }
export const RECOVERY_CODES = ['0123-4567-89ab-cdef', '1234-5678-9abc-def0', '2345-6789-abcd-ef01']

/** Options of a passkey, without a key that anybody has. */
export const CREATION_OPTIONS = { challenge: '', user: { id: '', name: PERSON.email } }
export const REQUEST_OPTIONS = { challenge: '', rpId: 'localhost', timeout: 1 }

/** A key for an authenticator app that nobody uses. */
export function createSampleKey({ tenantId }: PageTenant) {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  const uri = buildTotpUri(secret, { issuer: tenantId, accountName: PERSON.email })
  return { token: '', secret, uri, qrCode: renderQrCode(uri) }
}

/** The form of a sample leads nowhere. */
export const createSampleForm = ({ tenantId }: PageTenant) => ({
  action: `/${tenantId}/brand/preview`,
  csrf: '',
})
