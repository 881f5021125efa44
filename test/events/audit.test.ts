import { describe, expect } from 'vitest'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import type { LogEvent } from '../../src/events/log.ts'
import type { EventType } from '../../src/events/types.ts'
import { EVENT_TYPES, EVENTS } from '../../src/events/types.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { createFixture, type Fixture } from '../parity/fixture.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import type { Answer } from '../support/app.ts'
import {
  hasSucceeded,
  listCalls,
  mutate,
  OPERATOR_OPERATIONS,
  PERSONAL_DATA,
  WRITES,
} from '../support/audited-calls.ts'
import { logOf } from '../support/events.ts'
import { test as base } from '../support/fixtures.ts'
import { startUpstream } from '../support/upstream.ts'

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

describe('the event log', () => {
  test('is tested with a call of every operation that writes', () => {
    const missing = WRITES.filter(
      ([surface, name]) => listCalls(surface, name).length === 0 && !OPERATOR_OPERATIONS.includes(name),
    )
    expect(missing).toEqual([])
  })

  test.for(WRITES.filter(([, name]) => !OPERATOR_OPERATIONS.includes(name)))(
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
          expect(EVENTS[event.type as EventType].safeParse(event.detail).error, event.type).toBeUndefined()
          expect(event.ip).toBe('127.0.0.1')
          expect(event.actorClientId).toBe(
            as === 'user' ? fixture.clientId : (fixture.ctx.actor as { clientId: string }).clientId,
          )
          expect(event.actorUserId).toBe(as === 'user' ? fixture.userId : null)
          expect(
            [event.userId, event.sessionId, ...event.subjectIds].some(Boolean) ||
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
