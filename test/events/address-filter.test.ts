import { describe, expect } from 'vitest'
import { createEvent } from '../../src/events/create-event.ts'
import { selectEventPage } from '../../src/events/list.sql.ts'
import { recordEvents } from '../../src/events/log.ts'
import { lockUser, updateUser } from '../../src/users/users.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { logOf } from '../support/events.ts'
import type { Json } from '../support/json.ts'
import { test as base } from '../support/passcode-guesses.ts'

const LIST = `query ($address: String) { events(filter: { address: $address }) { nodes {
  __typename type: typeName ... on AuditEvent { subjectIds detail } } } }`

const test = base
  /** The entries of an address, the same on both surfaces: subjects and reason. */
  .extend(
    'find',
    ({ rest, gql, tenant }) =>
      async (address: string): Promise<[userId: string | null, reason: string][]> => {
        await logOf(tenant)
        const { body } = await rest('GET', `/events?${new URLSearchParams({ address })}`)
        const { nodes } = (await gql(LIST, { address })).body.data.events
        const simplify = (rows: Json[]) =>
          rows.map(({ type, detail, subjectIds }) => ({ type, detail, subjectIds }))
        expect(simplify(nodes)).toEqual(simplify(body.events))
        return body.events.map(({ userId, detail }: Json) => [userId, detail.reason])
      },
  )
  /** Enters an address and a wrong code on the hosted pages. */
  .extend('failSignIn', ({ openSignIn }) => async (address: string) => {
    const { enterAddress, enterCode } = await openSignIn()
    await enterAddress(address)
    await enterCode('000')
  })

describe('the filter of events by address', () => {
  test('finds failed sign-ins with an address that no user has, however it is spelled', async ({
    find,
    failSignIn,
    email,
  }) => {
    await failSignIn(email('nobody'))
    await failSignIn(email('somebody'))
    const entries = [
      [null, 'unknown'],
      [null, 'unknown'],
    ]
    expect(await find(email('nobody'))).toEqual(entries)
    expect(await find(` ${email('NOBODY')} `)).toEqual(entries)
    expect(await find(email('never-tried'))).toEqual([])
  })

  test('finds those of users and of locked users under the address that was entered', async ({
    ctx,
    find,
    failSignIn,
    newPerson,
    email,
  }) => {
    const [wrong, locked] = [await newPerson(), await newPerson()]
    await lockUser(ctx, locked.id)
    for (const { email } of [wrong, locked]) await failSignIn(email)
    await updateUser(ctx, wrong.id, { email: email('changed'), emailVerified: true })
    expect(await find(wrong.email)).toEqual([[wrong.id, 'wrong']])
    expect(await find(email('changed'))).toEqual([])
    expect(await find(locked.email)).toEqual([
      [locked.id, 'locked'],
      [locked.id, 'locked'],
    ])
  })

  test('finds those of the API and of phone numbers', async ({ find, rest, email }) => {
    for (const to of ['+41 79 123 45 99', email('by-api')])
      await rest('POST', '/passcodes/authenticate', { to, code: '000' })
    expect(await find('+41791234599')).toEqual([[null, 'unknown']])
    expect(await find(email('by-api'))).toEqual([[null, 'unknown']])
  })

  test('combines with other members and pages in both directions', async ({
    rest,
    failSignIn,
    email,
    client,
    tenant,
  }) => {
    const address = email('often')
    for (let times = 0; times < 2; times++) await failSignIn(address)
    await logOf(tenant)
    const list = async (parameters: object) =>
      (await rest('GET', `/events?${new URLSearchParams({ address, ...parameters })}`)).body.events.map(
        ({ id }: Json) => id,
      )
    const all = await list({ types: 'signin.failed,user.created', subjectId: client.id })
    expect(all).toHaveLength(4)
    expect(await list({ types: 'user.created' })).toEqual([])
    expect(await list({ direction: 'desc' })).toEqual(all.toReversed())
    expect(await list({ pageSize: '3' })).toEqual(all.slice(0, 3))
  })

  test('lists entries of former keys of ENCRYPTION_KEY with those of the current one, in their order', async ({
    ctx,
    tenant,
  }) => {
    const hashes = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    for (const index of [0, 1, 0])
      await ctx.db.transaction((tx) =>
        recordEvents(tx, ctx, [
          createEvent(
            'signin.failed',
            { clientId: `key-${index}`, addressHash: hashes[index] as Buffer },
            { method: 'passcode', channel: 'email', reason: 'unknown' },
          ),
        ]),
      )
    await logOf(tenant)
    const query = { filter: {}, after: null, before: null, offset: 0, limit: 10 }
    const { rows } = await selectEventPage(ctx.db, {
      ...query,
      addressHashes: hashes,
      newestFirst: false,
    })
    expect(rows.map(({ subjectIds }) => subjectIds[0])).toEqual(['key-0', 'key-1', 'key-0'])
  })

  test('names the invalid member and not its value', async ({ rest, gql }) => {
    const answers = [
      (await rest('GET', '/events?address=who-is-this')).body,
      (await gql(LIST, { address: 'who-is-this' })).body.errors?.[0],
    ]
    const fields = [{ field: 'address', description: expect.stringMatching(/^must be an e-mail address or/) }]
    expect(answers).toMatchObject([{ fields }, { extensions: { fields } }])
    expect(JSON.stringify(answers)).not.toContain('who-is-this')
  })
})

describe('the log', () => {
  test('has the address of a failed sign-in as a hash that differs between tenants', async ({
    tenant,
    rest,
  }) => {
    const other = await newTenant()
    const token = await tokenFor(other)
    const readNewest = async (tenant: string, call: object = {}) => {
      await rest('POST', '/passcodes/authenticate', { to: 'who-is-this@stored.example', code: '000' }, call)
      const [stored] = await sql<{ row: string; hash: Buffer }>(
        `SELECT e::text AS "row", "addressHash" AS "hash" FROM "Event" e
         WHERE "tenantId" = $1 AND "type" = 'signin.failed' ORDER BY "era" DESC, "xid" DESC, "seq" DESC LIMIT 1`,
        [tenant],
      )
      return stored
    }
    const stored = [await readNewest(tenant), await readNewest(other, { tenant: other, token })]
    expect(stored[0]?.hash).toHaveLength(32)
    expect(stored[0]?.hash).not.toEqual(stored[1]?.hash)
    expect(stored.map((each) => each?.row).join()).not.toContain('who-is-this')
  })
})
