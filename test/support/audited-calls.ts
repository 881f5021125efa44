import { createPlatformCtx } from '../../src/core/context.ts'
import { startTotpEnrollment } from '../../src/credentials/totp-enrollment.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import type { Call } from '../parity/call.ts'
import { EMAIL, type Fixture, PHONE } from '../parity/fixture.ts'
import { OPERATIONS } from '../parity/operations.ts'
import type { Answer, TestApp } from './app.ts'
import { schema } from './schema.ts'
import { computeTotp, enrollTotp } from './totp.ts'

/** Operations of operators, which have a separate test. */
export const OPERATOR_OPERATIONS = ['createTenant', 'deleteTenant']

export type Surface = 'rest' | 'graphql'
/** The caller and the input of a call. */
export type AuditedCall = {
  as: 'client' | 'user'
  send: (app: TestApp, fixture: Fixture, token: string) => Promise<Answer>
}

const mutations = schema.getMutationType()?.getFields() ?? {}

export function mutate(
  app: TestApp,
  tenant: string,
  token: string,
  name: string,
  input: object,
): Promise<Answer> {
  const document = `mutation($input: ${mutations[name]?.args[0]?.type}) { result: ${name}(input: $input) { __typename } }`
  return app.gql(tenant, token, document, { input })
}

const byOperation = (calls: Call[], surface: Surface): AuditedCall[] =>
  calls.map((call) => ({
    as: 'client',
    send: async (app, fixture, token) => {
      if (surface === 'rest') return app.rest(fixture.tenant, token, ...(await call.rest(fixture)))
      const asked = await call.gql(fixture)
      if (!('mutation' in asked)) throw new Error('not a mutation')
      return mutate(app, fixture.tenant, token, asked.mutation, asked.input)
    },
  }))

/** A mutation of the caller's own account. */
const own = (name: string, inputOf: (fixture: Fixture) => Promise<object> | object): AuditedCall => ({
  as: 'user',
  send: async (app, fixture, token) => mutate(app, fixture.tenant, token, name, await inputOf(fixture)),
})
async function codeTo(address: string): Promise<string> {
  await awaitDeliveries()
  return /\b\d{6}\b/.exec(listInboxMessages(address)[0]?.body ?? '')?.[0] ?? ''
}
const NEW_EMAIL = 'ada.new@parity.example'
const NEW_PHONE = '+41791112299'
const requestEmail = own('requestEmailChange', () => ({ email: NEW_EMAIL }))
const requestPhone = own('requestPhoneNumberChange', () => ({ phoneNumber: NEW_PHONE }))

/** Calls of the operations that OPERATIONS, the table of both surfaces, does not contain. */
const MORE: Record<string, AuditedCall[]> = {
  lockUser: [
    {
      as: 'client',
      send: (app, fixture, token) =>
        mutate(app, fixture.tenant, token, 'lockUser', { userId: fixture.userId }),
    },
  ],
  unlockUser: ['lockUser', 'unlockUser'].map((name) => ({
    as: 'client',
    send: (app, fixture, token) => mutate(app, fixture.tenant, token, name, { userId: fixture.userId }),
  })),
  importUsers: [
    {
      as: 'client',
      send: async (app, { tenant }, token) => {
        const response = await app.fetch(`/${tenant}/api/v1/users/import`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
          body: '{"name":"Imported","externalId":"crm-1"}\n',
        })
        return { status: response.status, headers: response.headers, body: { lines: await response.text() } }
      },
    },
  ],
  updateViewer: [own('updateViewer', () => ({ fields: { nickname: 'Countess' } }))],
  requestEmailChange: [requestEmail],
  confirmEmailChange: [
    requestEmail,
    own('confirmEmailChange', async () => ({ email: NEW_EMAIL, code: await codeTo(NEW_EMAIL) })),
  ],
  requestPhoneNumberChange: [requestPhone],
  confirmPhoneNumberChange: [
    requestPhone,
    own('confirmPhoneNumberChange', async () => ({ phoneNumber: NEW_PHONE, code: await codeTo(NEW_PHONE) })),
  ],
  removeViewerPhoneNumber: [own('removeViewerPhoneNumber', () => ({ phoneNumber: PHONE }))],
  revokeViewerSession: [own('revokeViewerSession', ({ sessionId }) => ({ sessionId }))],
  revokeViewerSessions: [own('revokeViewerSessions', () => ({ includeCurrent: true }))],
  revokeViewerConsent: [own('revokeViewerConsent', ({ clientId }) => ({ clientId }))],
  setViewerDeletion: [
    own('setViewerDeletion', async ({ tenant }) => {
      await updateSettings(createPlatformCtx(tenant), { accountDeletionDays: 7 })
      return { requested: true }
    }),
    own('setViewerDeletion', () => ({ requested: false })),
  ],
  createViewerEnrollmentToken: [own('createViewerEnrollmentToken', () => ({}))],
  createViewerTotp: [own('createViewerTotp', () => ({}))],
  confirmViewerTotp: [
    own('confirmViewerTotp', async ({ tenant, userId, sessionId }) => {
      const owner = { userId, place: sessionId }
      const { token, secret } = await startTotpEnrollment(createPlatformCtx(tenant), owner, 'ada')
      return { token, code: computeTotp(secret) }
    }),
  ],
  createViewerRecoveryCodes: [
    own('createViewerRecoveryCodes', async ({ tenant, userId }) => {
      await enrollTotp(createPlatformCtx(tenant), userId)
      return {}
    }),
  ],
  revokeViewerCredential: [own('revokeViewerCredential', ({ credentialId }) => ({ credentialId }))],
  linkViewerIdpUser: [
    own('linkViewerIdpUser', async ({ upstream }) => ({
      idpId: 'real',
      ...(await upstream.codeFor('upstream-ada')),
    })),
  ],
  unlinkViewerIdpUser: [own('unlinkViewerIdpUser', ({ idpId }) => ({ idpId }))],
}

/** Every operation that writes. */
export const WRITES: (readonly [surface: Surface, name: string])[] = [
  ...restRoutes
    .filter(({ method }) => method !== 'GET')
    .map(({ operationId }) => ['rest', operationId] as const),
  ...Object.keys(mutations).map((name) => ['graphql', name] as const),
]
/** The calls of an operation; at least one has to succeed. */
export const listCalls = (surface: Surface, name: string): AuditedCall[] =>
  MORE[name] ?? byOperation(OPERATIONS[name] ?? [], surface)

export const hasSucceeded = ({ status, body }: Answer): boolean => {
  const answer = body as { errors?: unknown; data?: { result?: { __typename: string } | null } } | null
  const typename = answer?.data?.result?.__typename ?? ''
  return status < 300 && !answer?.errors && !typename.endsWith('Error')
}

/** Personal data that these calls contain. */
export const PERSONAL_DATA = [
  EMAIL,
  NEW_EMAIL,
  PHONE,
  NEW_PHONE,
  'Lovelace',
  'Cleo',
  'Countess',
  'London',
  'Imported',
]
