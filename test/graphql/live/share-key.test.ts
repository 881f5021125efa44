import { buildSchema, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { UNBOUND } from '../../../src/access/dpop/dpop-binding.ts'
import type { Actor, Ctx } from '../../../src/context/context.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { createShareKey } from '../../../src/graphql/live/share-key.ts'
import { createContext } from '../../../src/graphql/request-context.ts'

const schema = buildSchema('type Query { a: Int }')
const EVENTS = parse(
  'subscription ($after: String, $types: [EventType!]) { events(after: $after, types: $types) { id } }',
)
const USER: Actor = {
  kind: 'user',
  tenant: 'acme',
  userId: 'user_1',
  clientId: 'client_1',
  sessionId: 'session_1',
  grantId: null,
  oidcScopes: new Set(['openid']),
}

const createKey = (changes: Partial<Ctx> = {}, variableValues: object = {}, document = EVENTS): string =>
  createShareKey(
    { schema, document, variableValues: variableValues as Record<string, unknown> },
    createContext({
      ctx: { ...createPlatformCtx('acme'), actor: USER, scopes: new Set(['events:read']), ...changes },
      token: null,
      binding: UNBOUND,
      rejection: null,
    }),
  )

describe('the key of a subscription', () => {
  test('is the same wherever it starts, and whatever request it came with', () => {
    expect(createKey({ requestId: 'other', ip: '127.0.0.2' }, { after: 'x' })).toBe(createKey())
  })

  test.for<[string, () => string]>([
    ['tenant', () => createKey({ tenant: 'globex' })],
    ['scopes', () => createKey({ scopes: new Set() })],
    ['user', () => createKey({ actor: { ...USER, userId: 'user_2' } })],
    ['client', () => createKey({ actor: { kind: 'client', tenant: 'acme', clientId: 'client_1' } })],
    ['scopes of userinfo', () => createKey({ actor: { ...USER, oidcScopes: new Set(['account']) } })],
    ['variables', () => createKey({}, { types: ['USER_LOCKED'] })],
    ['document', () => createKey({}, {}, parse('subscription { events { type } }'))],
  ])('is another for another value of its %s', ([, create]) => {
    expect(create()).not.toBe(createKey())
  })

  test('includes a start that the payload reads too', () => {
    const document = parse(
      'subscription ($after: String) { events(after: $after) { user { sessions(after: $after) { id } } } }',
    )
    expect(createKey({}, { after: 'x' }, document)).not.toBe(createKey({}, { after: 'y' }, document))
  })
})
