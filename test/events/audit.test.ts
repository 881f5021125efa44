import { describe, expect } from 'vitest'
import { createApiKey } from '../../src/api-keys/api-keys.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { startTotpEnrollment } from '../../src/credentials/second-factors/totp-enrollment.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import type { LogEvent } from '../../src/events/log.ts'
import { EVENT_TYPES, EVENTS, type EventType } from '../../src/events/types.ts'
import { updateIdentityProvider } from '../../src/idps/idps.ts'
import { createInvitation } from '../../src/invitations/invitations.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import type { Call } from '../parity/call.ts'
import { createFixture, EMAIL, type Fixture, PHONE } from '../parity/fixture.ts'
import { OPERATIONS } from '../parity/operations.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import type { Answer, TestApp } from '../support/app.ts'
import { logOf } from '../support/events.ts'
import { test as base } from '../support/fixtures.ts'
import { schema } from '../support/schema.ts'
import { hasServices } from '../support/services.ts'
import { computeTotp, enrollTotp } from '../support/totp.ts'
import { startUpstream } from '../support/upstream.ts'

/** Operations of operators, which have a separate test. */
const OPERATOR_OPERATIONS = ['createTenant', 'deleteTenant']
/** They write nothing; test/delivery/own-servers.own.test.ts. */
const SENDING_OPERATIONS = ['testDelivery']
const LEFT_OUT = [...OPERATOR_OPERATIONS, ...SENDING_OPERATIONS]

type Surface = 'rest' | 'graphql'
/** The caller and the input of a call. */
type AuditedCall = {
  as: 'client' | 'user'
  send: (app: TestApp, fixture: Fixture, token: string) => Promise<Answer>
}

const mutations = schema.getMutationType()?.getFields() ?? {}

function mutate(app: TestApp, tenant: string, token: string, name: string, input: object): Promise<Answer> {
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
const makeOwnKey = async ({ ctx, userId }: Fixture): Promise<string> =>
  (await createApiKey(ctx, { name: 'Script', userId })).apiKey.id

/** Invites the user to an organization of which the user is not a member. */
async function inviteToOrganization({ ctx }: Fixture): Promise<string> {
  const { id: organizationId } = await createOrganization(ctx, { slug: `audit-${Date.now()}`, name: 'Audit' })
  return (await createInvitation(ctx, { email: EMAIL, organizationId })).id
}

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
  getIdpUserTokens: [
    {
      as: 'client',
      send: async (app, { tenant, ctx, userId, upstream }, token) => {
        await updateIdentityProvider(ctx, 'real', { keepTokens: true })
        const proof = await upstream.codeFor('upstream-ada')
        await mutate(app, tenant, token, 'linkIdpUser', { userId, idpId: 'real', ...proof })
        return mutate(app, tenant, token, 'getIdpUserTokens', { userId, idpId: 'real' })
      },
    },
  ],
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
  importUsersFromCsv: [
    {
      as: 'client',
      send: async (app, { tenant }, token) => {
        const response = await app.fetch(`/${tenant}/api/v1/users/import/csv`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'text/csv' },
          body: 'name,externalId\nImported,crm-2\n',
        })
        return { status: response.status, headers: response.headers, body: { lines: await response.text() } }
      },
    },
  ],
  importCsv: [
    {
      as: 'client',
      send: (app, { tenant }, token) =>
        mutate(app, tenant, token, 'importCsv', {
          csv: 'Imported,crm-3\n',
          isLast: true,
          delimiter: ',',
          columns: ['name', 'externalId'],
          line: 2,
        }),
    },
  ],
  updateViewer: [own('updateViewer', () => ({ nickname: 'Countess' }))],
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
  acceptViewerInvitation: [
    own('acceptViewerInvitation', async (fixture) => ({ invitationId: await inviteToOrganization(fixture) })),
  ],
  declineViewerInvitation: [
    own('declineViewerInvitation', async (fixture) => ({
      invitationId: await inviteToOrganization(fixture),
    })),
  ],
  leaveViewerOrganization: [own('leaveViewerOrganization', ({ organizationId }) => ({ organizationId }))],
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
  createViewerApiKey: [
    own('createViewerApiKey', async ({ tenant }) => {
      await updateSettings(createPlatformCtx(tenant), { userApiKeys: true })
      return { name: 'Script' }
    }),
  ],
  rotateViewerApiKey: [
    own('rotateViewerApiKey', async (fixture) => ({ apiKeyId: await makeOwnKey(fixture) })),
  ],
  revokeViewerApiKey: [
    own('revokeViewerApiKey', async (fixture) => ({ apiKeyId: await makeOwnKey(fixture) })),
  ],
  linkViewerIdpUser: [
    own('linkViewerIdpUser', async ({ upstream }) => ({
      idpId: 'real',
      ...(await upstream.codeFor('upstream-ada')),
    })),
  ],
  unlinkViewerIdpUser: [own('unlinkViewerIdpUser', ({ idpId }) => ({ idpId }))],
}

/** Every operation that writes. */
const WRITES: (readonly [surface: Surface, name: string])[] = [
  ...restRoutes
    // A check reads, and has its input in the body.
    .filter(({ method, operationId }) => method !== 'GET' && !operationId.startsWith('checkPermission'))
    .map(({ operationId }) => ['rest', operationId] as const),
  ...Object.keys(mutations).map((name) => ['graphql', name] as const),
]
/** The calls of an operation; at least one has to succeed. */
const listCalls = (surface: Surface, name: string): AuditedCall[] =>
  MORE[name] ?? byOperation(OPERATIONS[name] ?? [], surface)

const hasSucceeded = ({ status, body }: Answer): boolean => {
  const answer = body as { errors?: unknown; data?: { result?: { __typename: string } | null } } | null
  const typename = answer?.data?.result?.__typename ?? ''
  return status < 300 && !answer?.errors && !typename.endsWith('Error')
}

/** Personal data that these calls contain. */
const PERSONAL_DATA = [
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

const test = base.extend('upstream', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
  const upstream = await startUpstream()
  onCleanup(() => upstream.close())
  return upstream
})

/** The token of a user who has just signed in, for the user's own account. */
const userToken = ({ tenant, userId, clientId, sessionId }: Fixture): Promise<string> =>
  issueAccessToken(tenant, {
    subject: userId,
    clientId,
    scopes: ['openid', 'account'],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
    sessionId,
  })

describe.runIf(hasServices)('the event log', () => {
  test('is tested with a call of every operation that writes', () => {
    const missing = WRITES.filter(
      ([surface, name]) => listCalls(surface, name).length === 0 && !LEFT_OUT.includes(name),
    )
    expect(missing).toEqual([])
  })

  test.for(WRITES.filter(([, name]) => !LEFT_OUT.includes(name)))(
    'records who changed what by %s %s, from which address and in which request',
    async ([surface, name], { app, upstream }) => {
      const fixture = await createFixture(upstream)
      const tokens = { client: fixture.token, user: await userToken(fixture) }
      const recorded: LogEvent[] = []
      for (const { as, send } of listCalls(surface, name)) {
        const answer = await send(app, fixture, tokens[as])
        if (!hasSucceeded(answer)) continue
        const requestId = answer.headers.get('x-request-id')
        const events = (await logOf(fixture.tenant)).filter((event) => event.requestId === requestId)
        expect(events.length, JSON.stringify(answer.body)).toBeGreaterThan(0)
        for (const event of events) {
          expect(EVENT_TYPES).toContain(event.type)
          expect(
            EVENTS[event.type as EventType].detail.safeParse(event.detail).error,
            event.type,
          ).toBeUndefined()
          expect(event.ip).toBe('127.0.0.1')
          expect(event.actorClientId).toBe(
            as === 'user' ? fixture.clientId : (fixture.ctx.actor as { clientId: string }).clientId,
          )
          expect(event.actorUserId).toBe(as === 'user' ? fixture.userId : null)
          expect(
            [event.userId, event.sessionId, event.organizationId, ...event.subjectIds].some(Boolean) ||
              /^tenant\./.test(event.type),
          ).toBe(true)
          for (const value of PERSONAL_DATA) expect(JSON.stringify(event)).not.toContain(value)
        }
        recorded.push(...events)
      }
      expect(recorded.length, 'none of its calls succeeds').toBeGreaterThan(0)
      if (/^(update|confirm(Email|PhoneNumber)|remove)/.test(name)) {
        const changed = recorded.filter(({ type }) => type.endsWith('.updated'))
        expect(changed.length).toBeGreaterThan(0)
        for (const { changedFields } of changed) expect(changedFields.length).toBeGreaterThan(0)
      }
    },
  )

  test.for(['rest', 'graphql'] as const)(
    'records the creation and deletion of a tenant over %s at tenant system, and the creation in the tenant',
    async (surface, { app }) => {
      await newTenant()
      const operator = await tokenFor('system', ['tenants:write', 'tenants:read'])
      const slug = `audited-${surface}`
      const call = (name: string, method: string, path: string, body?: object) =>
        surface === 'rest'
          ? app.rest('system', operator, method, path, body)
          : mutate(app, 'system', operator, name, { slug })
      const findEvent = async (log: string, answer: Answer) => {
        expect(hasSucceeded(answer), JSON.stringify(answer.body)).toBe(true)
        const requestId = answer.headers.get('x-request-id')
        return (await logOf(log)).find((event) => event.requestId === requestId)
      }
      const origin = { ip: '127.0.0.1', actorClientId: expect.stringMatching(/^client_/), subjectIds: [slug] }
      const creation = await call('createTenant', 'POST', '/tenants', { slug })
      expect(await findEvent('system', creation)).toMatchObject({ type: 'tenant.created', ...origin })
      expect(await findEvent(slug, creation)).toMatchObject({
        type: 'tenant.created',
        actorTenantId: 'system',
        ...origin,
      })
      const deletion = await call('deleteTenant', 'DELETE', `/tenants/${slug}`)
      expect(await findEvent('system', deletion)).toMatchObject({ type: 'tenant.deleted', ...origin })
    },
  )
})
