import { describe, expect } from 'vitest'
import { updateClient } from '../../../src/clients/client-changes.ts'
import type { Ctx } from '../../../src/context/context.ts'
import type { Scope } from '../../../src/core/scopes.ts'
import { listInboxMessages } from '../../../src/delivery/inbox.ts'
import { ACR_PHISHING_RESISTANT } from '../../../src/model/sign-in-methods.ts'
import { explainSignIn } from '../../../src/oidc/explain/explain-sign-in.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { deleteUser, lockUser, unlockUser } from '../../../src/users/users.ts'
import { ctxFor, tokenFor } from '../../support/actors.ts'
import { dbFor } from '../../support/database.ts'
import { logOf } from '../../support/events.ts'
import type { Person } from '../../support/fixtures.ts'
import { test as base } from '../../support/fixtures.ts'
import { hashTables } from '../../support/isolation.ts'
import type { Json } from '../../support/json.ts'
import { enrollPasskey } from '../../support/passkeys.ts'
import { REDIRECT_URI } from '../../support/protocol.ts'
import { recordWarmStatements } from '../../support/statements.ts'
import { enrollTotp } from '../../support/totp.ts'

const OTHER_URI = 'https://rp.example.com/other'
/** A request of a client that needs nothing but these. */
const query = (more: Record<string, string> = {}) =>
  new URLSearchParams({
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    scope: 'openid',
    ...more,
  }).toString()

const test = base.extend(
  'explain',
  { scope: 'file' },
  ({ ctx, client }) =>
    (person: { id: string } | null, input: object = {}) =>
      explainSignIn(ctx, { ...(person && { userId: person.id }), clientId: client.id, ...input }),
)

type Explanation = Awaited<ReturnType<typeof explainSignIn>>
const find = ({ steps }: Explanation, check: string, value?: string) =>
  steps.find((step) => step.check === check && (value === undefined || step.values.includes(value)))

describe('explainSignIn', () => {
  test('says which claims and scopes come out', async ({ explain, person }) => {
    const explained = await explain(person)
    expect(explained).toMatchObject({
      succeeds: true,
      scopes: ['openid', 'profile', 'email'],
      audience: [expect.stringMatching(/\/oidc\/userinfo$/)],
      idTokenClaims: { sub: person.id },
      userinfoClaims: { sub: person.id, email: person.email, email_verified: true },
    })
    expect(explained.steps.map(({ check, outcome }) => `${check} ${outcome}`)).toEqual([
      ...['client passed', 'redirect-uri passed', 'scope passed', 'pkce passed', 'lock passed'],
      ...['method passed', 'method unavailable', 'method unavailable'],
      ...['second-factor passed', 'consent passed', 'granted-scopes passed'],
    ])
  })

  test('names the change that turns a no into a yes', async ({
    ctx,
    explain,
    newPerson,
    newClient,
    tenant,
  }) => {
    const person = await newPerson()
    await lockUser(ctx, person.id)
    const client = await newClient({ requirePushedRequests: true, requirePkce: true })
    const input = { clientId: client.id, request: query({ redirect_uri: OTHER_URI }) }
    const refused = await explain(person, input)
    expect(refused.succeeds).toBe(false)
    expect(
      refused.steps.flatMap(({ error, rule, remedy }) => (remedy ? [{ error, rule, ...remedy }] : [])),
    ).toEqual(
      [
        ['invalid_request', 'clientCallbacks', 'add-redirect-uri', client.id, null, OTHER_URI],
        ['invalid_request', 'clientRequirePushedRequests', 'push-request', null, null, null],
        ['invalid_request', 'clientRequirePkce', 'change-request', null, 'code_challenge', null],
        [null, 'userLocked', 'unlock-user', person.id, null, null],
      ].map(([error, rule, action, targetId, parameter, value]) => ({
        ...{ error, rule, action, targetId, parameter, value },
      })),
    )
    await unlockUser(ctx, person.id)
    await updateClient(ctx, client.id, { callbacks: [REDIRECT_URI, OTHER_URI] })
    const challenge = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }
    const request = query({ redirect_uri: OTHER_URI, ...challenge })
    expect((await explain(person, { ...input, request, transport: 'pushed' })).succeeds).toBe(true)
    expect(await explainSignIn(await ctxFor(tenant), { userId: person.id })).toMatchObject({
      ...{ succeeds: true, clientId: null, request: null, scopes: [] },
    })
  })

  const ENDS: [string, Record<string, string>, string, object][] = [
    ['a silent renewal', { prompt: 'none' }, 'session', { error: 'login_required', rule: 'request' }],
    [
      'a request about another user',
      { claims: JSON.stringify({ id_token: { sub: { value: 'user_other' } } }) },
      'subject',
      { error: 'login_required', remedy: { action: 'change-request', parameter: 'id_token_hint' } },
    ],
    [
      'an id_token_hint of another issuer',
      { id_token_hint: 'no.such.token' },
      'id-token-hint',
      { error: 'invalid_request' },
    ],
    [
      'an unknown scope',
      { scope: 'users:read' },
      'scope',
      { remedy: { action: 'assign-scope', value: 'users:read' } },
    ],
    [
      'an unknown API',
      { resource: 'urn:x' },
      'resource',
      { remedy: { action: 'declare-resource', value: 'urn:x' } },
    ],
    ['a new account', { prompt: 'create' }, 'prompt', { remedy: { action: 'open-sign-up' } }],
    ['another response type', { response_type: 'token' }, 'response-type', { remedy: { value: 'code' } }],
  ]
  test.for(ENDS)('explains why %s is rejected', async ([, more, check, expected], { explain, person }) => {
    const explained = await explain(person, { request: `https://id.example/oidc/authorize?${query(more)}` })
    expect(explained.succeeds).toBe(false)
    expect(find(explained, check)).toMatchObject({ outcome: 'failed', ...expected })
  })

  test('says that a user was deleted, and that a client is unknown', async ({ ctx, explain, newPerson }) => {
    const person = await newPerson()
    await deleteUser(ctx, person.id)
    expect(await explain(person, { clientId: 'client_none' })).toMatchObject({
      succeeds: false,
      steps: [
        { check: 'client', outcome: 'failed', rule: 'client', error: 'invalid_request' },
        { check: 'user', outcome: 'failed', rule: 'user' },
      ],
    })
  })

  test('lists what the user is asked, with the rule', async ({ ctx, explain, newPerson, newClient }) => {
    const person = await newPerson()
    const client = await newClient({ requireConsent: true, requireSecondFactor: true })
    await updateSettings(ctx, { termsUrl: 'https://rp.example.com/terms', termsVersion: '2' })
    const explained = await explain(person, { clientId: client.id })
    await updateSettings(ctx, { termsUrl: null, termsVersion: null })
    expect(explained.succeeds).toBe(true)
    const asked = explained.steps.filter(({ outcome }) => outcome === 'asked')
    expect(asked.map(({ check, rule, values }) => [check, rule, values])).toEqual([
      ['second-factor', 'clientRequireSecondFactor', ['email']],
      ['terms', 'tenantTerms', ['2']],
      ['consent', 'clientRequireConsent', ['openid', 'profile', 'email']],
    ])
  })

  type Arrange = (person: Person, ctx: Ctx) => Promise<unknown>
  type Judged = { succeeds: boolean; method: string; step: object }
  const METHODS: [string, Record<string, string>, Arrange, Judged][] = [
    [
      'an address that is not verified, beside one that is',
      {},
      ({ id }, { tenant }) =>
        dbFor(tenant).user.updateMany({
          where: { tenantId: tenant, id },
          data: { emailVerified: false, phoneNumberVerified: true },
        }),
      {
        succeeds: false,
        method: 'email',
        step: { rule: 'userAddress', remedy: { action: 'verify-address' } },
      },
    ],
    [
      'a passkey',
      {},
      ({ id }, ctx) => enrollPasskey(ctx, id),
      { succeeds: true, method: 'passkey', step: { outcome: 'passed' } },
    ],
    [
      'no passkey, where one is demanded',
      { claims: JSON.stringify({ id_token: { acr: { essential: true, value: ACR_PHISHING_RESISTANT } } }) },
      async () => {},
      { succeeds: false, method: 'email', step: { outcome: 'unavailable', rule: 'request' } },
    ],
    [
      'too many codes',
      {},
      async ({ email }, { tenant }) => {
        const now = new Date()
        await dbFor(tenant).passcode.create({
          data: {
            ...{
              tenantId: tenant,
              address: email,
              origin: '',
              channel: 'email',
              expiresAt: now,
              sentAt: now,
            },
            ...{ sendCount: 20, sendWindowAt: now, failureWindowAt: now },
          },
        })
      },
      {
        succeeds: false,
        method: 'email',
        step: { rule: 'userSignInLimits', remedy: { action: 'reset-limits' } },
      },
    ],
  ]
  test.for(METHODS)('judges the methods of a user with %s', async (row, { ctx, explain, newPerson }) => {
    const [, more, arrange, { succeeds, method, step }] = row
    const person = await newPerson()
    await arrange(person, ctx)
    const explained = await explain(person, { request: query(more) })
    expect(find(explained, 'method', method)).toMatchObject(step)
    expect(explained.succeeds).toBe(succeeds)
    const failed = explained.steps.filter(({ check, outcome }) => check === 'method' && outcome === 'failed')
    expect(failed).toHaveLength(succeeds ? 0 : 1)
  })

  test('asks users with an authenticator app for its code', async ({ ctx, explain, newPerson }) => {
    const person = await newPerson()
    await enrollTotp(ctx, person.id)
    expect(find(await explain(person), 'second-factor')).toMatchObject({
      ...{ outcome: 'asked', rule: 'userCredentials', values: ['email'] },
    })
  })

  test('begins with the id of a rejected request', async ({ client, oidc, browser, tenant, ctx }) => {
    const response = await browser.fetch(oidc.authorizePath({ redirect_uri: OTHER_URI }))
    const requestId = response.headers.get('x-request-id')
    await expect
      .poll(async () => (await logOf(tenant)).some((event) => event.requestId === requestId))
      .toBe(true)
    const explained = await explainSignIn(ctx, { requestId })
    expect(explained).toMatchObject({
      succeeds: false,
      clientId: client.id,
      event: { type: 'authorize.refused' },
    })
    expect(find(explained, 'redirect-uri')).toMatchObject({ outcome: 'failed', values: [OTHER_URI] })
    const auditor = await ctxFor(tenant, ['events:read'])
    expect(await explainSignIn(auditor, { requestId })).toMatchObject({
      clientId: null,
      event: { requestId },
    })
    await expect(explainSignIn(ctx, { requestId: 'none' })).rejects.toMatchObject({ status: 400 })
    await expect(explainSignIn(ctx, {})).rejects.toMatchObject({ status: 400 })
  })

  const SCOPES: [Scope[], object][] = [
    [['clients:read'], { userId: 'user_01k7r3m8wxe4gbr5v2c9t6hznq' }],
    [['users:read'], { clientId: 'client_1' }],
    [['users:read'], { request: query() }],
    [['users:read', 'clients:read'], { requestId: 'a' }],
  ]
  test.for(SCOPES)('rejects a caller with %s for %s', async ([scopes, input], { tenant }) => {
    const ctx = await ctxFor(tenant, scopes)
    await expect(explainSignIn(ctx, input)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('leaves out what the scopes of the caller do not permit', async ({ tenant, newPerson, ctx }) => {
    const person = await newPerson()
    await enrollPasskey(ctx, person.id)
    await dbFor(tenant).user.updateMany({
      where: { tenantId: tenant, id: person.id },
      data: { email: null, emailKey: null },
    })
    const explained = await explainSignIn(await ctxFor(tenant, ['users:read']), { userId: person.id })
    expect(explained.succeeds).toBe(null)
    expect(find(explained, 'method', 'passkey')).toMatchObject({ outcome: 'unknown', remedy: null })
  })

  test('has claims of appMetadata for callers only who may read it', async ({
    tenant,
    newPerson,
    newClient,
  }) => {
    const { id: userId } = await newPerson({ appMetadata: { plan: 'gold' } })
    const targets = ['id_token', 'userinfo']
    const { id: clientId } = await newClient({
      claimMappings: [
        { claim: 'plan', source: 'appMetadata', path: '/plan', scope: 'billing', targets },
        { claim: 'shop', source: 'constant', value: 'a', targets },
      ],
    })
    const read = async (scopes: Scope[]) => {
      const input = { userId, clientId, request: query({ scope: 'openid billing' }) }
      const explained = await explainSignIn(await ctxFor(tenant, scopes), input)
      return [explained.idTokenClaims, explained.userinfoClaims].map((claims) => [claims?.plan, claims?.shop])
    }
    const scopes: Scope[] = ['users:read', 'clients:read']
    expect(await read(scopes)).toEqual(targets.map(() => [undefined, 'a']))
    expect(await read([...scopes, 'users:read_app_metadata'])).toEqual(targets.map(() => ['gold', 'a']))
  })

  test('reads in three statements, and writes nothing', async ({ explain, newPerson, tenant }) => {
    const person = await newPerson()
    const before = await hashTables(tenant)
    const statements = await recordWarmStatements(
      () => explain(person),
      () => explain(person, { request: query({ scope: 'openid account' }) }),
    )
    expect(statements.length).toBeLessThanOrEqual(3)
    expect(
      statements.filter((text) => /\b(INSERT|UPDATE|DELETE|FOR (NO KEY )?(UPDATE|SHARE))\b/.test(text)),
    ).toEqual([])
    expect(await hashTables(tenant)).toEqual(before)
    expect(listInboxMessages(person.email)).toEqual([])
  })

  test('is equal over GraphQL and REST', async ({ app, tenant, client, person }) => {
    const token = await tokenFor(tenant)
    const input = { userId: person.id, clientId: client.id, request: query({ prompt: 'none' }) }
    const rest = await app.rest(tenant, token, 'GET', `/sign-in-explanation?${new URLSearchParams(input)}`)
    const { body } = await app.gql(
      tenant,
      token,
      `query ($userId: ID, $clientId: ID, $request: String) {
        explainSignIn(userId: $userId, clientId: $clientId, request: $request) {
          succeeds userId clientId request scopes audience idTokenClaims userinfoClaims event { id }
          user { id } client { id }
          steps { check outcome rule values error description remedy { action targetId parameter value } } } }`,
      input,
    )
    const toName = (value: string) => value.toLowerCase().replaceAll(/[-_]/g, '')
    const toPlain = ({ steps, user: _, client: __, ...rest }: Json) => ({
      ...rest,
      steps: steps.map(({ check, outcome, rule, remedy, ...step }: Json) => ({
        ...step,
        ...{ check: toName(check), outcome: toName(outcome), rule: toName(rule) },
        remedy: remedy && { ...remedy, action: toName(remedy.action) },
      })),
    })
    expect(body.data.explainSignIn).toMatchObject({ user: { id: person.id }, client: { id: client.id } })
    expect(toPlain(body.data.explainSignIn)).toEqual(toPlain(rest.body))
  })
})
