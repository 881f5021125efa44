import { describe, expect } from 'vitest'
import { z } from 'zod'
import { RateLimited, Unavailable } from '../../src/core/errors.ts'
import { createRestApp } from '../../src/rest/rest.ts'
import { DoneShape, defineRestRoute, toDoneBody } from '../../src/rest/route.ts'
import { test as base } from '../support/fixtures.ts'
import { expectError } from '../support/rest-errors.ts'

/** Calls a route whose handler throws. */
const test = base.extend(
  'fail',
  { scope: 'file' },
  ({ tenant, token }) =>
    (error: unknown) =>
      createRestApp([
        defineRestRoute({
          method: 'GET',
          path: '/things/:thingId',
          operationId: 'getThing',
          summary: 'Fails.',
          scope: 'users:read',
          response: DoneShape,
          handle: async () => {
            throw error
          },
        }),
      ]).request(`http://localhost:3000/${tenant}/api/v1/things/1`, {
        headers: { authorization: `Bearer ${token}` },
      }),
)

describe('a REST route', () => {
  test('hides the cause of an unexpected error', async ({ fail }) => {
    await expectError(
      await fail(new Error('password=hunter2')),
      500,
      'INTERNAL_SERVER_ERROR',
      'Something went wrong on our side.',
    )
    await expectError(await fail('text'), 500, 'INTERNAL_SERVER_ERROR', 'Something went wrong on our side.')
    await expectError(
      await fail(Object.assign(new Error('host:5432'), { code: 'ECONNREFUSED' })),
      503,
      'UNAVAILABLE',
      'The service is busy; try again.',
    )
  })

  test('sends the headers of an error', async ({ fail }) => {
    const limited = await expectError(await fail(new RateLimited(30)), 429, 'RATE_LIMITED')
    expect(limited.headers.get('retry-after')).toBe('30')
    const away = await expectError(
      await fail(new Unavailable('Mail cannot be sent now.')),
      503,
      'UNAVAILABLE',
      'Mail cannot be sent now.',
    )
    expect(away.headers.get('retry-after')).toBe('5')
  })

  test('passes parameters, declared queries and the body to its handler and rejects other queries', async ({
    tenant,
    token,
  }) => {
    const seen: unknown[] = []
    const table = createRestApp([
      defineRestRoute({
        method: 'PUT',
        path: '/users/:userId/things/:thingId',
        operationId: 'putThing',
        summary: 'Records its input.',
        scope: 'users:write',
        query: z.object({ note: z.string() }),
        body: z.object({ a: z.number() }),
        response: DoneShape,
        handle: async (ctx, { params: { userId, thingId }, query, paging, body }) => {
          seen.push({ tenant: ctx.tenant, userId, thingId, note: query.note, paging, body })
          return toDoneBody(ctx, 'Done.')
        },
      }),
    ])
    const put = (query: string) =>
      table.request(`http://localhost:3000/${tenant}/api/v1/users/u1/things/t-2${query}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{"a":1}',
      })
    const done = await put('?note=a%20b')
    expect([done.status, await done.json()]).toEqual([
      200,
      { message: 'Done.', requestId: expect.any(String), fields: [] },
    ])
    expect(seen).toEqual([{ tenant, userId: 'u1', thingId: 't-2', note: 'a b', paging: {}, body: { a: 1 } }])
    await expectError(await put('?note=a&page=1'), 400, 'BAD_USER_INPUT', expect.any(String), [
      { field: 'page', description: 'is not a parameter of this request' },
    ])
  })
})
