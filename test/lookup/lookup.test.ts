import { describe, expect } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import { newId } from '../../src/core/crypto.ts'
import { SCOPE_NAMES, type Scope } from '../../src/core/scopes.ts'
import { hashAddress } from '../../src/events/address-hash.ts'
import { createEvent } from '../../src/events/create-event.ts'
import { recordEvents } from '../../src/events/log.ts'
import { listPublicKeys } from '../../src/keys/keys.ts'
import { startSession } from '../../src/sessions/sessions.ts'
import { createUser, deleteUser } from '../../src/users/users.ts'
import { createFixture, EMAIL, PHONE } from '../parity/fixture.ts'
import { newTenant, TENANT_SCOPES, tokenFor } from '../support/actors.ts'
import { dbFor, sql } from '../support/database.ts'
import { logOf } from '../support/events.ts'
import { test as base } from '../support/fixtures.ts'
import { toFieldNames } from '../support/issues.ts'
import type { Json } from '../support/json.ts'
import { hasServices } from '../support/services.ts'
import { countWarmStatements } from '../support/statements.ts'
import { startUpstream } from '../support/upstream.ts'

const IP = '203.0.113.77'
const UNKNOWN_ADDRESS = 'nobody@lookup.example'
const REQUEST_ID = 'request-of-the-error-page'
const DEVICE_ID = 'Jx1cV5bT9rLh4sGdP6uNaEoKiWxY3q2-7wQkXy0mFjZ'

const LOOKUP = `query ($text: String!) { lookup(text: $text) {
  kind id matchedBy name userId event { id typeName requestId } node { __typename id } } }`

/** A tenant with an object of each kind, and a log. */
const test = base
  .extend('fixture', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const upstream = await startUpstream()
    onCleanup(upstream.close)
    const fixture = await createFixture(upstream)
    const { ctx, tenant } = fixture
    const { client } = await createClient(ctx, {
      name: 'Desk',
      appType: 'web',
      type: 'login',
      callbacks: ['https://desk.example/back', 'https://desk.example:8443/back'],
      clientUri: 'https://desk.example/',
    })
    const native = { name: 'Phone', appType: 'native', type: 'login', callbacks: ['example.desk:/back'] }
    await createClient(ctx, native)
    const { id: importedId } = await createUser(ctx, { name: 'Grace' })
    await sql(`UPDATE "User" SET "externalId" = 'crm-4711' WHERE "tenantId" = $1 AND "id" = $2`, [
      tenant,
      importedId,
    ])
    const { id: deletedId } = await createUser(ctx, { name: 'Gone' })
    await deleteUser(ctx, deletedId)
    const outside = { ...ctx, ip: IP, requestId: REQUEST_ID, deviceId: DEVICE_ID }
    const { session } = await ctx.db.transaction((tx) =>
      startSession(tx, outside, {
        userId: fixture.userId,
        kind: 'api',
        expiresAt: new Date('2100-01-01T00:00:00Z'),
        refreshable: true,
        proof: { method: 'passcode', amr: ['otp'] },
      }),
    )
    const failed = { userId: null, addressHash: hashAddress(tenant, UNKNOWN_ADDRESS) }
    await recordEvents(ctx.db, outside, [
      createEvent('signin.failed', failed, { method: 'passcode', reason: 'unknown' }),
    ])
    await sql(`UPDATE "OrganizationDomain" SET "verifiedAt" = now() WHERE "tenantId" = $1`, [tenant])
    const [key] = (await listPublicKeys(tenant)).keys
    const [link] = await dbFor(tenant).idpUser.findMany({ where: { tenantId: tenant } })
    const [started] = (await logOf(tenant)).filter(({ requestId }) => requestId === REQUEST_ID)
    return {
      ...fixture,
      deskId: client.id,
      kid: String(key?.kid),
      linkId: String(link?.id),
      deletedId,
      outsideSessionId: session.id,
      eventId: String(started?.id),
    }
  })
  .extend(
    'find',
    { scope: 'file' },
    ({ app, fixture } /** What both surfaces find. */) =>
      async (text: string, scopes: readonly Scope[] = TENANT_SCOPES): Promise<Json[]> => {
        const token = await tokenFor(fixture.tenant, scopes)
        const query = new URLSearchParams({ text })
        const { body } = await app.rest(fixture.tenant, token, 'GET', `/lookup?${query}`)
        const answer = await app.gql(fixture.tenant, token, LOOKUP, { text })
        expect(answer.body.errors).toBeUndefined()
        const toName = (value: string) => value.toLowerCase().replaceAll(/[-_]/g, '')
        const plain = (matches: Json[]) =>
          matches.map(({ kind, matchedBy, event, node: _, ...match }) => ({
            ...match,
            kind: toName(kind),
            matchedBy: toName(matchedBy),
            event: event?.id,
          }))
        expect(plain(answer.body.data.lookup)).toEqual(plain(body.matches))
        return answer.body.data.lookup
      },
  )

type Fixture = Awaited<ReturnType<typeof createFixture>> & Record<string, unknown>
type Found = { kind: string; matchedBy: string; type: string | null; scope: Scope; besides?: Scope[] }

/** A text of each form, and the first match. */
const TEXTS: [name: string, toText: (fixture: Fixture) => unknown, found: Found][] = [
  ['the id of a user', ({ userId }) => userId, user('ID')],
  ['an e-mail address in another spelling', () => EMAIL.toUpperCase(), user('EMAIL')],
  ['a phone number with spaces', () => PHONE.replace('+41', '+41 '), user('PHONE_NUMBER')],
  ['an external id', () => 'crm-4711', user('EXTERNAL_ID')],
  ['the id of a session', ({ sessionId }) => sessionId, object('SESSION', 'Session', 'sessions:read')],
  [
    'the id of a credential',
    ({ credentialId }) => credentialId,
    object('CREDENTIAL', 'Credential', 'credentials:read'),
  ],
  ['the id of a client', ({ clientId }) => clientId, object('CLIENT', 'Client', 'clients:read')],
  [
    'the id of a registration token',
    ({ registrationTokenId }) => registrationTokenId,
    object('REGISTRATION_TOKEN', 'RegistrationToken', 'clients:read'),
  ],
  [
    'the id of an invitation',
    ({ invitationId }) => invitationId,
    object('INVITATION', 'Invitation', 'users:read'),
  ],
  ['the id of an API key', ({ apiKeyId }) => apiKeyId, object('API_KEY', 'ApiKey', 'api_keys:read')],
  [
    'the id of a domain',
    ({ organizationDomainId }) => organizationDomainId,
    object('ORGANIZATION_DOMAIN', 'OrganizationDomain', 'organizations:read'),
  ],
  [
    'a proven domain',
    () => 'ACME.parity.example',
    { ...object('ORGANIZATION_DOMAIN', 'OrganizationDomain', 'organizations:read'), matchedBy: 'DOMAIN' },
  ],
  ['the id of an API', ({ apiId }) => apiId, object('API', 'Api', 'roles:read')],
  [
    'the identifier of an API',
    () => 'https://api.parity.example',
    { ...object('API', 'Api', 'roles:read'), matchedBy: 'IDENTIFIER' },
  ],
  ['the id of a role', ({ appRoleId }) => appRoleId, object('APP_ROLE', 'AppRole', 'roles:read')],
  [
    'the name of a role',
    () => 'clerk',
    { ...object('APP_ROLE', 'AppRole', 'roles:read'), matchedBy: 'NAME' },
  ],
  ['the id of a group', ({ groupId }) => groupId, object('GROUP', 'Group', 'roles:read')],
  ['the name of a group', () => 'Desk', { ...object('GROUP', 'Group', 'roles:read'), matchedBy: 'NAME' }],
  [
    'the id of a membership',
    ({ membershipId }) => membershipId,
    object('MEMBERSHIP', 'Membership', 'organizations:read'),
  ],
  ['the id of a webhook', ({ webhookId }) => webhookId, object('WEBHOOK', 'Webhook', 'webhooks:read')],
  [
    'the URL of a webhook',
    () => 'https://hooks.example/vestibule',
    { ...object('WEBHOOK', 'Webhook', 'webhooks:read'), matchedBy: 'URL' },
  ],
  [
    'the id of a message of a webhook',
    ({ webhookDeliveryId }) => webhookDeliveryId,
    { ...object('WEBHOOK_DELIVERY', 'WebhookDelivery', 'webhooks:read'), besides: ['events:read'] },
  ],
  [
    'the id of a stream of shared signals',
    ({ signalStreamId }) => signalStreamId,
    object('SIGNAL_STREAM', 'SignalStream', 'clients:read'),
  ],
  ['the id of a bulk job', ({ bulkJobId }) => bulkJobId, object('BULK_JOB', 'BulkJob', 'users:read')],
  [
    'the id of a trusted document',
    ({ trustedDocumentId }) => trustedDocumentId,
    object('TRUSTED_DOCUMENT', 'TrustedDocument', 'clients:read'),
  ],
  [
    'the id of an identity provider',
    () => 'acme',
    object('IDENTITY_PROVIDER', 'IdentityProvider', 'idps:read'),
  ],
  ['the kid of a signing key', ({ kid }) => kid, object('SIGNING_KEY', 'SigningKey', 'tenant:read')],
  ['the id of a linked identity', ({ linkId }) => linkId, object('IDP_USER', 'IdpUser', 'idps:read')],
  ['the slug of the tenant', ({ tenant }) => tenant, object('TENANT', 'Tenant', 'tenant:read')],
  [
    'an IP address',
    () => IP,
    { ...object('SESSION', 'Session', 'sessions:read'), matchedBy: 'LAST_SEEN_IP' },
  ],
  ['the id of an event', ({ eventId }) => eventId, inLog('EVENT')],
  ['the id of a request', () => REQUEST_ID, inLog('REQUEST')],
  ['the id of a device', () => DEVICE_ID, inLog('DEVICE')],
  ['an address that no user has', () => UNKNOWN_ADDRESS, inLog('ADDRESS')],
  ['the id of a deleted user', ({ deletedId }) => deletedId, inLog('SUBJECT')],
  ['a redirect URI', () => 'https://desk.example:8443/back', url('CALLBACKS')],
  ['a redirect URI of an app', () => 'example.desk:/back', url('CALLBACKS')],
  ['a home page', () => 'https://desk.example/', url('CLIENT_URI')],
  ['a page of the origin', () => 'https://desk.example/help?page=1', url('ORIGIN')],
]

function object(kind: string, type: string, scope: Scope): Found {
  return { kind, matchedBy: 'ID', type, scope }
}
function user(matchedBy: string): Found {
  return { ...object('USER', 'User', 'users:read'), matchedBy }
}
function url(matchedBy: string): Found {
  return { ...object('CLIENT', 'Client', 'clients:read'), matchedBy }
}
function inLog(kind: string): Found {
  return { kind, matchedBy: 'ID', type: null, scope: 'events:read' }
}

let hiddenId = ''

describe.runIf(hasServices)('lookup', () => {
  test.for(TEXTS)(
    'finds %s on both surfaces',
    async ([, toText, { kind, matchedBy, type }], { fixture, find }) => {
      const [match] = await find(`  ${toText(fixture as never)} `)
      expect(match).toMatchObject({ kind, matchedBy })
      expect(match?.node?.__typename ?? null).toBe(type)
      if (type === null) expect(match?.event).toMatchObject({ id: expect.stringMatching(/^event_/) })
      // The id of a key in GraphQL contains its kid.
      else expect(match).toMatchObject({ event: null, node: { id: expect.stringContaining(match?.id) } })
    },
  )

  test.for(TEXTS)(
    'finds %s only with the scope that reading it needs',
    async ([, toText, { kind, scope, besides = [] }], { fixture, find }) => {
      const text = String(toText(fixture as never))
      const kinds = (matches: Json[]) => matches.map((match) => match.kind)
      expect(kinds(await find(text, [scope, ...besides]))).toContain(kind)
      if (besides.length > 0) expect(kinds(await find(text, [scope]))).not.toContain(kind)
      expect(
        kinds(
          await find(
            text,
            TENANT_SCOPES.filter((other) => other !== scope),
          ),
        ),
      ).not.toContain(kind)
    },
  )

  test('shows the user of a session, the first event of a request and the newest event of an address', async ({
    fixture,
    find,
  }) => {
    expect(await find(fixture.sessionId)).toMatchObject([{ userId: fixture.userId, name: null }])
    expect(await find(REQUEST_ID)).toMatchObject([{ event: { typeName: 'session.started' } }])
    expect(await find(IP)).toMatchObject([
      { kind: 'SESSION', id: fixture.outsideSessionId, userId: fixture.userId },
      { kind: 'IP_ADDRESS', id: IP, event: { typeName: 'signin.failed' } },
    ])
    expect(await find(`::ffff:${IP}`)).toMatchObject([{}, { id: IP }])
  })

  test('finds what an address names besides the user', async ({ fixture, find }) => {
    await sql(`UPDATE "Invitation" SET "email" = $2, "emailKey" = $2 WHERE "tenantId" = $1`, [
      fixture.tenant,
      EMAIL,
    ])
    expect(await find(EMAIL)).toMatchObject([
      { kind: 'USER', id: fixture.userId },
      { kind: 'INVITATION', id: fixture.invitationId },
    ])
  })

  test('finds no client of another port, scheme or longer host', async ({ find }) => {
    for (const text of [
      'https://desk.example:8444/',
      'http://desk.example/',
      'https://desk.example.evil.example/',
    ])
      expect(await find(text)).toEqual([])
  })

  test('finds ten clients of an origin at most, the exact redirect URI first', async ({ fixture, find }) => {
    for (let number = 0; number < 11; number += 1)
      await createClient(fixture.ctx, {
        name: `Many ${number}`,
        appType: 'web',
        type: 'login',
        callbacks: [`https://many.example/${number}`],
      })
    const matches = await find('https://many.example/10')
    expect(matches).toHaveLength(10)
    expect(matches[0]).toMatchObject({ name: 'Many 10', matchedBy: 'CALLBACKS' })
    expect(matches.slice(1).every(({ matchedBy }) => matchedBy === 'ORIGIN')).toBe(true)
  })

  test.for(TEXTS)('does not find %s in another tenant', async ([, toText], { app, fixture }) => {
    const other = await newTenant()
    const token = await tokenFor(other)
    const text = String(toText(fixture as never))
    const { body } = await app.rest(other, token, 'GET', `/lookup?${new URLSearchParams({ text })}`)
    expect(body.matches).toEqual([])
  })

  test('finds every tenant in tenant system, with the scope tenants:read', async ({ app, fixture }) => {
    const find = async (scopes: readonly Scope[]) =>
      (await app.rest('system', await tokenFor('system', scopes), 'GET', `/lookup?text=${fixture.tenant}`))
        .body.matches
    expect(await find(SCOPE_NAMES)).toMatchObject([{ kind: 'tenant', id: fixture.tenant }])
    expect(await find(['tenants:read'])).toMatchObject([{ kind: 'tenant', id: fixture.tenant }])
    expect(await find(TENANT_SCOPES)).toEqual([])
  })

  test.for([
    'nothing-like-it',
    'user_',
    '%',
    "'",
    '\\',
    newId('user'),
    newId('event'),
    `event_7${'z'.repeat(25)}`,
    '/',
    'x:y',
  ])('finds nothing for %s', async (text, { find }) => {
    expect(await find(text)).toEqual([])
  })

  test('rejects a text that is blank, too long or missing', async ({ rest, gql }) => {
    for (const query of ['?text=', '?text=+', `?text=${'x'.repeat(513)}`, ''])
      expect(toFieldNames((await rest('GET', `/lookup${query}`)).body.fields)).toEqual(['text'])
    const { body } = await gql(LOOKUP, { text: 'x'.repeat(513) })
    expect(body.errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ field: 'text' }],
    })
  })

  test('takes a plus sign that a URL does not encode', async ({ app, fixture }) => {
    const { body } = await app.rest(fixture.tenant, fixture.token, 'GET', `/lookup?text=${PHONE}`)
    expect(body.matches).toMatchObject([{ kind: 'user', matchedBy: 'phoneNumber' }])
  })

  test('finds an IP address and an id of digits behind a space', async ({ fixture, find }) => {
    expect(await find(` ${IP}`)).toMatchObject([{ kind: 'SESSION' }, { kind: 'IP_ADDRESS' }])
    await recordEvents(fixture.ctx.db, { ...fixture.ctx, requestId: '3f2c1a9e-0000' }, [
      createEvent('signin.failed', { userId: null }, { method: 'passcode', reason: 'unknown' }),
    ])
    // Other transactions hold the event back until they end.
    await expect.poll(() => find(' 3f2c1a9e-0000')).toMatchObject([{ kind: 'REQUEST', id: '3f2c1a9e-0000' }])
  })

  test('finds nothing for an address whose domain is too long in ASCII', async ({ find }) => {
    expect(await find(`${'a'.repeat(60)}@${'é.'.repeat(27)}example`)).toEqual([])
  })

  test('shows an event when the log does: after transactions that began before it', async ({
    fixture,
    find,
  }) => {
    const { ctx } = fixture
    await ctx.db.transaction(async (tx) => {
      // A transaction without a change has no id.
      await recordEvents(tx, ctx, [
        createEvent('client.updated', { clientId: fixture.clientId, changedFields: ['name'] }),
      ])
      await recordEvents(ctx.db, { ...ctx, requestId: 'behind-an-open-one' }, [
        createEvent('signin.failed', { userId: null }, { method: 'passcode', reason: 'unknown' }),
      ])
      const [{ id } = { id: '' }] = await sql<{ id: string }>(
        `SELECT "id" FROM "Event" WHERE "tenantId" = $1 AND "requestId" = 'behind-an-open-one'`,
        [fixture.tenant],
      )
      hiddenId = id
      expect(await find(id)).toEqual([])
    })
    // Transactions of other tests in the cluster hide it too.
    await expect.poll(() => find(hiddenId)).toMatchObject([{ kind: 'EVENT', id: hiddenId }])
  })

  test.for(TEXTS)('takes three statements at most for %s', async ([, toText], { app, fixture }) => {
    const text = String(toText(fixture as never))
    const query = `query ($text: String!) { lookup(text: $text) { kind id name } }`
    const call = () => app.gql(fixture.tenant, fixture.token, query, { text })
    expect(await countWarmStatements(call, call)).toBeLessThanOrEqual(3)
  })
})
