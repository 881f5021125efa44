import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { listInbox } from '../src/delivery/inbox.ts'
import { EVENT_TYPES, type LogEvent } from '../src/events.ts'
import { buildSchema } from '../src/graphql/schema.ts'
import { apiAudienceOf } from '../src/oidc/keys/keys.ts'
import { issueAccessToken } from '../src/oidc/token/access-tokens.ts'
import { restRoutes } from '../src/rest/rest.ts'
import type { Call } from './parity/call.ts'
import { OPERATIONS } from './parity/operations.ts'
import { EMAIL, newWorld, PHONE, type World } from './parity/world.ts'
import { newTenant, tokenFor } from './support/actors.ts'
import { type Answer, startApp, type TestApp } from './support/app.ts'
import { logOf } from './support/events.ts'
import { startUpstream, type Upstream } from './support/upstream.ts'

// Issue 3, "audit": whatever changes something, over either surface, leaves an entry with who, what, when, from where and
// in which request. A new operation has to be given a call that succeeds, in OPERATIONS or here, or a reason in EXCEPTIONS.

let app: TestApp
let upstream: Upstream
beforeAll(async () => {
  app = await startApp()
  upstream = await startUpstream()
})
afterAll(async () => {
  upstream.close()
  await app.close()
})

const EXCEPTIONS: Record<string, string> = {
  createTenant: 'by operators alone: see below',
  deleteTenant: 'by operators alone: see below',
}

/** Who calls, and what they send; the answer says which request it was. */
type Drive = { as: 'client' | 'person'; send: (world: World, token: string) => Promise<Answer> }

const schema = buildSchema()
const mutations = schema.getMutationType()?.getFields() ?? {}

function mutate(world: Pick<World, 'tenant'>, token: string, name: string, input: object): Promise<Answer> {
  const document = `mutation($input: ${mutations[name]?.args[0]?.type}) { result: ${name}(input: $input) { __typename } }`
  return app.gql(world.tenant, token, document, { input }) as unknown as Promise<Answer>
}

const byOperation = (calls: Call[], surface: 'rest' | 'graphql'): Drive[] =>
  calls.map((call) => ({
    as: 'client',
    send: async (world, token) => {
      if (surface === 'rest') return app.rest(world.tenant, token, ...(await call.rest(world)))
      const asked = await call.gql(world)
      if (!('mutation' in asked)) throw new Error('a query changes nothing')
      return mutate(world, token, asked.mutation, asked.input)
    },
  }))

/** Of the caller's own account, by a person. */
const own = (name: string, inputOf: (world: World) => Promise<object> | object): Drive => ({
  as: 'person',
  send: async (world, token) => mutate(world, token, name, await inputOf(world)),
})
const codeTo = (address: string) => /\b\d{6}\b/.exec(listInbox(address)[0]?.body ?? '')?.[0] ?? ''
const NEW_EMAIL = 'ada.new@parity.example'
const NEW_PHONE = '+41791112299'
const requestEmail = own('requestEmailChange', () => ({ email: NEW_EMAIL }))
const requestPhone = own('requestPhoneNumberChange', () => ({ phoneNumber: NEW_PHONE }))

/** Calls of what OPERATIONS, the table of both surfaces, does not hold. */
const MORE: Record<string, Drive[]> = {
  lockUser: [
    { as: 'client', send: (world, token) => mutate(world, token, 'lockUser', { userId: world.userId }) },
  ],
  unlockUser: ['lockUser', 'unlockUser'].map((name) => ({
    as: 'client',
    send: (world, token) => mutate(world, token, name, { userId: world.userId }),
  })),
  importUsers: [
    {
      as: 'client',
      send: async ({ tenant }, token) => {
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
    own('confirmEmailChange', () => ({ email: NEW_EMAIL, code: codeTo(NEW_EMAIL) })),
  ],
  requestPhoneNumberChange: [requestPhone],
  confirmPhoneNumberChange: [
    requestPhone,
    own('confirmPhoneNumberChange', () => ({ phoneNumber: NEW_PHONE, code: codeTo(NEW_PHONE) })),
  ],
  removeViewerPhoneNumber: [own('removeViewerPhoneNumber', () => ({ phoneNumber: PHONE }))],
  revokeViewerSession: [own('revokeViewerSession', ({ sessionId }) => ({ sessionId }))],
  revokeViewerSessions: [own('revokeViewerSessions', () => ({ includeCurrent: true }))],
  revokeViewerConsent: [own('revokeViewerConsent', ({ clientId }) => ({ clientId }))],
  createViewerEnrollmentToken: [own('createViewerEnrollmentToken', () => ({}))],
  revokeViewerCredential: [own('revokeViewerCredential', ({ credentialId }) => ({ credentialId }))],
  linkViewerIdpUser: [
    own('linkViewerIdpUser', async () => ({ idpId: 'real', ...(await upstream.codeFor('upstream-ada')) })),
  ],
  unlinkViewerIdpUser: [own('unlinkViewerIdpUser', ({ idpId }) => ({ idpId }))],
}

const writes = [
  ...restRoutes
    .filter(({ method }) => method !== 'GET')
    .map(({ operationId }) => ['rest', operationId] as const),
  ...Object.keys(mutations).map((name) => ['graphql', name] as const),
]
const drivesOf = (surface: 'rest' | 'graphql', name: string): Drive[] =>
  MORE[name] ?? byOperation(OPERATIONS[name] ?? [], surface)

/** A token of a person about themselves, from a sign-in just now. */
const personToken = ({ tenant, userId, clientId, sessionId }: World): Promise<string> =>
  issueAccessToken(tenant, {
    subject: userId,
    clientId,
    scopes: ['openid', 'account'],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
    sessionId,
  })

const hasSucceeded = ({ status, body }: Answer): boolean => {
  const answer = body as { errors?: unknown; data?: { result?: { __typename: string } | null } } | null
  const typename = answer?.data?.result?.__typename ?? ''
  return status < 300 && !answer?.errors && !typename.endsWith('Error')
}

/** What is written of a person anywhere in these calls. */
const PERSONAL = [EMAIL, NEW_EMAIL, PHONE, NEW_PHONE, 'Lovelace', 'Cleo', 'Countess', 'London', 'Imported']

it('has a call, or a reason, for everything that writes', () => {
  const missing = writes.filter(
    ([surface, name]) => drivesOf(surface, name).length === 0 && !EXCEPTIONS[name],
  )
  expect(missing).toEqual([])
})

describe('an entry tells of', () => {
  test.each(writes.filter(([, name]) => !EXCEPTIONS[name]))('%s %s', async (surface, name) => {
    const world = await newWorld(upstream)
    const tokens = { client: world.token, person: await personToken(world) }
    const told: LogEvent[] = []
    for (const { as, send } of drivesOf(surface, name)) {
      const answer = await send(world, tokens[as])
      if (!hasSucceeded(answer)) continue
      const requestId = answer.headers.get('x-request-id')
      const entries = (await logOf(world.tenant)).filter((entry) => entry.requestId === requestId)
      expect(entries.length, JSON.stringify(answer.body)).toBeGreaterThan(0)
      for (const entry of entries) {
        expect(EVENT_TYPES).toContain(entry.type)
        expect(entry.ip).toBe('127.0.0.1')
        expect(entry.actorClientId).toBe(
          as === 'person' ? world.clientId : (world.ctx.actor as { clientId: string }).clientId,
        )
        expect(entry.actorUserId).toBe(as === 'person' ? world.userId : null)
        expect(
          [entry.userId, entry.sessionId, ...entry.subjectIds].some(Boolean) || /^tenant\./.test(entry.type),
        ).toBe(true)
        for (const value of PERSONAL) expect(JSON.stringify(entry)).not.toContain(value)
      }
      told.push(...entries)
    }
    expect(told.length, 'no call of it succeeds').toBeGreaterThan(0)
    if (/^(update|confirm|remove)/.test(name)) {
      const changed = told.filter(({ type }) => type.endsWith('.updated'))
      expect(changed.length).toBeGreaterThan(0)
      for (const { changedFields } of changed) expect(changedFields.length).toBeGreaterThan(0)
    }
  })

  test.each(['rest', 'graphql'])(
    "a tenant over %s: in the operators' log, and in its own",
    async (surface) => {
      await newTenant()
      const operator = await tokenFor('system', ['tenants:write', 'tenants:read'])
      const slug = `audited-${surface}`
      const call = (name: string, method: string, path: string, body?: object) =>
        surface === 'rest'
          ? app.rest('system', operator, method, path, body)
          : mutate({ tenant: 'system' }, operator, name, { slug })
      const entryOf = async (log: string, answer: Answer) => {
        expect(hasSucceeded(answer), JSON.stringify(answer.body)).toBe(true)
        const requestId = answer.headers.get('x-request-id')
        return (await logOf(log)).find((entry) => entry.requestId === requestId)
      }
      const who = { ip: '127.0.0.1', actorClientId: expect.stringMatching(/^client_/), subjectIds: [slug] }
      const creation = await call('createTenant', 'POST', '/tenants', { slug })
      expect(await entryOf('system', creation)).toMatchObject({ type: 'tenant.created', ...who })
      expect(await entryOf(slug, creation)).toMatchObject({
        type: 'tenant.created',
        actorTenantId: 'system',
        ...who,
      })
      const deletion = await call('deleteTenant', 'DELETE', `/tenants/${slug}`)
      expect(await entryOf('system', deletion)).toMatchObject({ type: 'tenant.deleted', ...who })
    },
  )
})
