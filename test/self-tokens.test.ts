import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPE_NAMES } from '../src/ctx.ts'
import { dbFor } from '../src/db.ts'
import { apiAudienceOf } from '../src/oidc/keys/keys.ts'
import { issueAccessToken } from '../src/oidc/token/access-tokens.ts'
import { endSession } from '../src/sessions/sessions.ts'
import { updateSettings } from '../src/tenants/settings.ts'
import { lockUser } from '../src/users/users.ts'
import { makeUser } from './oidc/provider.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { makeSpa, type PersonClient, type SignedIn, signInAs } from './support/people.ts'

let app: TestApp
let tenant: string
let spa: PersonClient
let people = 0
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  spa = await makeSpa(tenant)
})
afterAll(() => app.close())

const signIn = async (scope: string, at = tenant, client = spa, parameters: Record<string, string> = {}) => {
  const email = `person${people++}@${at}.example`
  await makeUser(at, email)
  return { email, ...(await signInAs(app, at, client, email, { scope, parameters })) }
}

const VIEWER =
  '{ viewer { user { id email sessions { nodes { id } } consents { nodes { clientId } } } session { id } scopes } }'
const CHANGE =
  'mutation { updateViewer(input: {fields: {nickname: "Ada"}}) { ... on ViewerPayload { user { nickname } } } }'
const nickname = async ({ userId }: SignedIn, at = tenant) =>
  (await dbFor(at).user.findFirstOrThrow({ where: { tenantId: at, id: userId } })).nickname

/** Every mutation of one's own account, by name. */
const MUTATIONS: Record<string, string> = {
  updateViewer: '{fields: {nickname: "Eve"}}',
  requestEmailChange: '{email: "eve@example.com"}',
  confirmEmailChange: '{email: "eve@example.com", code: "000000"}',
  requestPhoneNumberChange: '{phoneNumber: "+41791112233"}',
  confirmPhoneNumberChange: '{phoneNumber: "+41791112233", code: "000000"}',
  removeViewerPhoneNumber: '{phoneNumber: "+41791112233"}',
  revokeViewerSession: '{sessionId: "session_01m7xeb1sbendby702xerkqv3p"}',
  revokeViewerSessions: '{includeCurrent: true}',
  revokeViewerCredential: '{credentialId: "cred_01m7xeb1sbendby702xerkqv3p"}',
  unlinkViewerIdpUser: '{idpId: "partner"}',
  linkViewerIdpUser: '{idpId: "partner", idToken: "x"}',
  createViewerEnrollmentToken: '{}',
  revokeViewerConsent: '{clientId: "client_01m7xeb1sbendby702xerkqv3p"}',
}
const mutation = (name: string) => `mutation { ${name}(input: ${MUTATIONS[name]}) { __typename } }`

describe('whose data it is', () => {
  test('an ordinary token of a single-page application reads it', async () => {
    const person = await signIn('openid profile')
    expect(person.audience).toContain(apiAudienceOf(tenant))
    expect((await app.gql(tenant, person.token, VIEWER)).body).toMatchObject({
      data: {
        viewer: {
          user: {
            id: person.userId,
            email: person.email,
            sessions: { nodes: [{ id: person.sessionId }] },
            consents: { nodes: [] },
          },
          session: { id: person.sessionId },
          scopes: [],
        },
      },
    })
  })

  test('where the tenant has an audience of its own, scope account or the resource leads here', async () => {
    const other = await newTenant()
    await updateSettings(await ctxFor(other), { defaultAudience: 'https://api.example.com' })
    const client = await makeSpa(other)
    const elsewhere = await signIn('openid profile', other, client)
    expect(elsewhere.audience).not.toContain(apiAudienceOf(other))
    expect((await app.gql(other, elsewhere.token, VIEWER)).status).toBe(401)
    const account = await signIn('openid account', other, client)
    expect(account.audience).toContain('https://api.example.com')
    const narrowed = await signIn('openid', other, client, { resource: apiAudienceOf(other) })
    expect(narrowed.audience).not.toContain('https://api.example.com')
    for (const { token, userId } of [account, narrowed])
      expect((await app.gql(other, token, VIEWER)).body.data.viewer.user.id).toBe(userId)
    expect((await app.gql(other, account.token, CHANGE)).body.errors).toBeUndefined()
    expect(await nickname(account, other)).toBe('Ada')
  })

  test('is changed with scope account', async () => {
    const person = await signIn('openid account')
    expect((await app.gql(tenant, person.token, CHANGE)).body.data.updateViewer.user.nickname).toBe('Ada')
  })
})

describe('security 14: who may not change it', () => {
  const refused = async (token: string, name: string, message: RegExp) => {
    const { body } = await app.gql(tenant, token, mutation(name))
    expect(body).toMatchObject({
      data: { [name]: null },
      errors: [{ message: expect.stringMatching(message), extensions: { code: 'FORBIDDEN' } }],
    })
  }

  test('the list above names every such mutation', async () => {
    const { body } = await app.gql(
      tenant,
      await tokenFor(tenant),
      '{ __schema { mutationType { fields { name description } } } }',
    )
    const fields = body.data.__schema.mutationType.fields as { name: string; description: string }[]
    const own = fields.filter(({ description }) => description.includes('scope account.'))
    expect(own.map(({ name }) => name).sort()).toEqual(Object.keys(MUTATIONS).sort())
  })

  test.each(Object.keys(MUTATIONS))(
    '%s: a token without scope account, whatever else it carries',
    async (name) => {
      const plain = await signIn('openid profile email phone address session')
      await refused(plain.token, name, /scope account/)
      const everything = await issueAccessToken(tenant, {
        subject: plain.userId,
        clientId: spa.id,
        scopes: SCOPE_NAMES,
        audience: [apiAudienceOf(tenant)],
        lifetimeSeconds: 600,
        sessionId: plain.sessionId,
      })
      await refused(everything, name, /scope account/)
      expect(await nickname(plain)).toBeNull()
    },
  )

  test.each(Object.keys(MUTATIONS))("%s: a client's own token, which is nobody's", async (name) => {
    await refused(await tokenFor(tenant), name, /a person's to do/)
  })

  test('a locked person, from that moment on', async () => {
    const person = await signIn('openid account')
    await lockUser(await ctxFor(tenant), person.userId)
    expect((await app.gql(tenant, person.token, CHANGE)).status).toBe(401)
    expect(await nickname(person)).toBeNull()
  })

  test('an ended session', async () => {
    const person = await signIn('openid account')
    await endSession(await ctxFor(tenant), person.sessionId, 'logout')
    expect((await app.gql(tenant, person.token, CHANGE)).status).toBe(401)
    expect(await nickname(person)).toBeNull()
  })

  test('a person of another tenant', async () => {
    const other = await newTenant()
    const person = await signIn('openid account', other, await makeSpa(other))
    expect((await app.gql(tenant, person.token, CHANGE)).status).toBe(401)
    expect(await nickname(person, other)).toBeNull()
  })
})
