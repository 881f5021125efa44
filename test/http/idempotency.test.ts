import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { rotateClientSecret } from '../../src/clients/client-secrets.ts'
import { createClient } from '../../src/clients/clients.ts'
import { SCOPE_NAMES, SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { createUser } from '../../src/users/users.ts'
import { newTenant, TENANT_SCOPES, tokenFor } from '../support/actors.ts'
import { databaseUrl } from '../support/connections.ts'
import { inTransaction } from '../support/database.ts'
import { withConnection } from '../support/databases.ts'
import { toTypes } from '../support/events.ts'
import { isReplayed, newEmail, otherCaller, test } from '../support/idempotency.ts'
import { lockUserRow, untilWaiting } from '../support/locks.ts'

/** Cancels the statements of this process's database that wait for locks, which then fail as by a timeout. */
const cancelWaiting = (): Promise<unknown> =>
  withConnection(databaseUrl(), (client) =>
    client.query(
      `SELECT pg_cancel_backend("pid") FROM pg_locks JOIN pg_stat_activity USING ("pid")
       WHERE NOT "granted" AND "datname" = current_database()`,
    ),
  )

describe('a REST request with an Idempotency-Key', () => {
  test('is executed once; its repetition returns the same answer under another request id', async ({
    events,
    post,
  }) => {
    const [key, email] = [randomUUID(), newEmail()]
    const count = (await events()).length
    const first = await post('/users', { email }, { key })
    const again = await post('/users', { email }, { key: `"${key}"` })
    expect([first.status, isReplayed(first), again.status, isReplayed(again)]).toEqual([
      201,
      false,
      201,
      true,
    ])
    expect(again.text).toBe(first.text)
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect(toTypes((await events()).slice(count))).toEqual(['user.created'])
  })

  test('answers 409 for another body, another route or a token of other scopes, and creates nothing', async ({
    tenant,
    events,
    post,
  }) => {
    const key = randomUUID()
    await post('/users', { name: 'First' }, { key })
    const count = (await events()).length
    const rejected = [
      await post('/users', { name: 'Second' }, { key }),
      await post('/clients', { name: 'First' }, { key }),
      await post('/users', { name: 'First' }, { key, bearer: await tokenFor(tenant, ['users:write']) }),
    ]
    for (const { status, body } of rejected)
      expect([status, body]).toEqual([
        409,
        {
          message: 'The Idempotency-Key cannot be used for this request.',
          requestId: expect.any(String),
          fields: [
            {
              field: 'Idempotency-Key',
              description: 'was used for another request, or with a token of other scopes',
            },
          ],
          code: 'CONFLICT',
        },
      ])
    expect(await events()).toHaveLength(count)
  })

  test('is executed once by twenty parallel calls; each returns that answer or 409', async ({
    events,
    post,
  }) => {
    const [key, email] = [randomUUID(), newEmail()]
    const count = (await events()).length
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('/users', { email }, { key })))
    const bodies = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text))
    expect(bodies.size).toBe(1)
    for (const { status, headers, body } of answers.filter((answer) => answer.status !== 201)) {
      expect([status, headers.get('retry-after')]).toEqual([409, '1'])
      expect(body.fields).toEqual([
        { field: 'Idempotency-Key', description: 'is in use by a request that is still running; try again' },
      ])
    }
    expect(answers.filter((answer) => answer.status === 201 && !isReplayed(answer))).toHaveLength(1)
    expect(await events()).toHaveLength(count + 1)
    expect([...bodies]).toEqual([(await post('/users', { email }, { key })).text])
  })

  test('repeats an error of the input, and releases the key after a missing scope', async ({
    tenant,
    post,
  }) => {
    const email = newEmail()
    await post('/users', { email })
    const taken = { key: randomUUID() }
    const rejected = await post('/users', { email }, taken)
    expect(rejected.status).toBe(409)
    const again = await post('/users', { email }, taken)
    expect([again.status, again.text, isReplayed(again)]).toEqual([409, rejected.text, true])
    const late = { key: randomUUID() }
    const reader = await tokenFor(tenant, ['users:read'])
    expect((await post('/users', { name: 'x' }, { ...late, bearer: reader })).status).toBe(403)
    expect((await post('/users', { name: 'x' }, late)).status).toBe(201)
  })

  test('releases the key after an error of the server', async ({ tenant, ctx, post }) => {
    const [key, email] = [randomUUID(), newEmail()]
    const user = await createUser(ctx, { email })
    await inTransaction(async (sql) => {
      await lockUserRow(tenant, user.id)(sql)
      const rejected = post('/passcodes/email', { to: email }, { key })
      await untilWaiting(1)
      await cancelWaiting()
      expect((await rejected).status).toBe(503)
    })
    const sent = await post('/passcodes/email', { to: email }, { key })
    expect([sent.status, isReplayed(sent)]).toEqual([200, false])
  })

  test('is executed for each client, tenant and operator that sends the same key', async ({
    tenant,
    post,
  }) => {
    const key = randomUUID()
    const other = await newTenant()
    const operator = await otherCaller(SYSTEM_TENANT, SCOPE_NAMES, tenant, true)
    const answers = [
      await post('/users', { name: 'Shared' }, { key }),
      await post('/users', { name: 'Shared' }, { key, bearer: await otherCaller(tenant, TENANT_SCOPES) }),
      await post('/users', { name: 'Shared' }, { key, bearer: operator }),
      await post('/users', { name: 'Shared' }, { key, bearer: await tokenFor(other), tenant: other }),
    ]
    expect(answers.map((answer) => [answer.status, isReplayed(answer)])).toEqual(
      answers.map(() => [201, false]),
    )
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(answers.length)
  })

  test('rotates a client secret once, and its repetition returns the same secret', async ({ ctx, post }) => {
    const { client } = await createClient(ctx, { name: 'App', appType: 'web', type: 'login' })
    const path = `/clients/${client.id}/secret`
    const key = randomUUID()
    const first = await post(path, {}, { key })
    const again = await post(path, {}, { key })
    expect([again.body.secret, isReplayed(again)]).toEqual([first.body.secret, true])
    expect(await rotateClientSecret(ctx, client.id, {})).toMatchObject({ secret: expect.any(String) })
  })

  test('sends a passcode once', async ({ inbox, post }) => {
    const email = newEmail()
    await post('/users', { email })
    const key = randomUUID()
    const answers = [
      await post('/passcodes/email', { to: email }, { key }),
      await post('/passcodes/email', { to: email }, { key }),
    ]
    expect(answers.map((answer) => [answer.status, isReplayed(answer)])).toEqual([
      [200, false],
      [200, true],
    ])
    expect(await inbox.list(email)).toHaveLength(1)
  })

  test('ignores the key where nothing is created', async ({ app, tenant, token, ctx }) => {
    const user = await createUser(ctx, { name: 'Ada' })
    for (const name of ['Ada Lovelace', 'Countess of Lovelace']) {
      const response = await app.fetch(`/${tenant}/api/v1/users/${user.id}`, {
        method: 'PATCH',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': 'one for both',
        },
        body: JSON.stringify({ name }),
      })
      expect([response.status, ((await response.json()) as { name: string }).name]).toEqual([200, name])
    }
  })
})
