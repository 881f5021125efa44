import { clientCountStatement, clientPageStatement } from '../../src/clients/client-list.sql.ts'
import { ID_PREFIXES, newId } from '../../src/core/crypto.ts'
import { ReadLimit } from '../../src/core/network/read-limit.ts'
import type { BoundStatement } from '../../src/database/statement.ts'
import type { EventFilter } from '../../src/events/list.fields.ts'
import { buildEventPageStatement, type EventQuery } from '../../src/events/list.sql.ts'
import { matchesStatement } from '../../src/lookup/lookup.sql.ts'
import { listSearches } from '../../src/lookup/lookup.ts'
import {
  organizationCountStatement,
  organizationPageStatement,
} from '../../src/organizations/organization-list.sql.ts'
import type { Paging } from '../../src/schema/page.ts'
import type { SessionFilter } from '../../src/sessions/session-list.fields.ts'
import { sessionCountStatement, sessionPageStatement } from '../../src/sessions/session-list.sql.ts'
import { SESSION_LISTS } from '../../src/sessions/session-list.ts'
import { tenantCountStatement, tenantPageStatement } from '../../src/tenants/tenant-list.sql.ts'
import { USER_FILTER } from '../../src/users/list/user-filter.fields.ts'
import { buildUserCountStatement, buildUserPageStatement } from '../../src/users/list/user-list.sql.ts'
import { USER_LISTS } from '../../src/users/list/user-list-plans.ts'

const TENANT = 'acme'
const NOW = new Date()
const RANGE = { gte: NOW, lt: NOW }

/** One of each kind of page, by what may change the text. */
const PAGINGS: Paging[] = [
  { mode: 'offset', page: 2, pageSize: 10, isNumbered: true, limit: new ReadLimit(undefined, 10) },
  ...[false, true].flatMap((backward) =>
    [null, { id: 'id', value: null }, { id: 'id', value: NOW.toISOString() }].map((seek) => ({
      mode: 'cursor' as const,
      pageSize: 10,
      backward,
      seek,
      limit: new ReadLimit(undefined, 10),
    })),
  ),
]

function* clientStatements() {
  const filters = [
    {},
    { type: 'login' },
    { appType: 'web' },
    { type: 'login', appType: 'web' },
    { search: 'shop' },
    { search: 'shop', type: 'login' },
  ] as const
  for (const filter of filters) {
    yield clientCountStatement(TENANT, filter)
    for (const paging of PAGINGS) yield clientPageStatement(TENANT, filter, paging)
  }
}

function* tenantStatements() {
  for (const filter of [{}, { search: 'acme' }]) {
    yield tenantCountStatement(TENANT, filter)
    for (const paging of PAGINGS) yield tenantPageStatement(TENANT, filter, paging)
  }
}

function* organizationStatements() {
  for (const query of [
    { filter: {} },
    { filter: {}, order: 'name' },
    { filter: { externalId: 'crm-1' } },
    { filter: { search: 'acme inc' } },
  ] as const) {
    yield organizationCountStatement(TENANT, query.filter)
    for (const paging of PAGINGS)
      yield organizationPageStatement(TENANT, { order: null, descending: false, ...query }, paging)
  }
}

function* sessionStatements() {
  const values = {
    userId: 'user_1',
    clientId: 'client_1',
    organizationId: 'organization_1',
    ip: '192.0.2.1',
    createdAt: RANGE,
    lastSeenAt: RANGE,
  }
  for (const list of SESSION_LISTS) {
    const members = [...(list.by ? [list.by] : []), ...list.combinable]
    const filter: SessionFilter = Object.fromEntries(members.map((member) => [member, values[member]]))
    for (const order of list.orders) {
      const query = { filter, order, descending: true, now: NOW }
      yield sessionCountStatement(TENANT, query)
      for (const paging of PAGINGS) yield sessionPageStatement(TENANT, query, paging)
    }
  }
}

function* userStatements() {
  const instant = NOW.toISOString()
  const values: Record<string, unknown> = USER_FILTER.shape.parse({
    search: 'ada',
    email: 'ada@example.com',
    phoneNumber: '+41791234567',
    externalId: 'crm-1',
    locked: false,
    emailVerified: true,
    phoneNumberVerified: true,
    hasCredential: true,
    idpId: 'acme',
    organizationId: 'organization_1',
    createdAt: { gte: instant },
    updatedAt: { lt: instant },
    lastSeenAt: { gte: instant, lt: instant },
    appMetadata: { plan: 1 },
  })
  for (const list of USER_LISTS)
    for (const members of list.by.length === 0
      ? [[]]
      : list.by.map((member) => [member, ...list.combinable])) {
      const filter = Object.fromEntries(members.map((member) => [member, values[member]])) as never
      const query = { list, filter, descending: false }
      if (list.by.length > 0) yield buildUserCountStatement(TENANT, query)
      for (const paging of PAGINGS)
        for (const columns of [null, 'keys', new Set(['email', 'name'])] as const)
          yield buildUserPageStatement(TENANT, query, paging, columns)
    }
}

function* eventStatements() {
  const position = { era: 1, xid: 1n, seq: 1n }
  const all: EventQuery = {
    filter: {},
    addressHashes: null,
    offset: 0,
    after: null,
    before: null,
    newestFirst: true,
    limit: 10,
  }
  const members: EventFilter[] = [
    { subjectId: newId('user') },
    { subjectId: newId('session') },
    { subjectId: newId('grant') },
    { organizationId: newId('organization') },
    { actorId: newId('user') },
    { actorId: newId('client') },
    { requestId: 'request' },
    { deviceId: 'device' },
    { ip: '203.0.113.7' },
    { ip: '203.0.113.0/24' },
  ]
  const variants: Partial<EventQuery>[] = [
    {},
    { filter: { types: ['user.created', 'user.deleted'] } },
    { filter: { occurredAt: RANGE } },
    { addressHashes: [Buffer.alloc(32)], filter: { types: ['signin.failed'] } },
    { after: position },
    { before: position, newestFirst: false },
    ...members.map((member) => ({
      filter: { ...member, types: ['user.created' as const] },
      after: position,
    })),
  ]
  for (const variant of variants) yield buildEventPageStatement(TENANT, { ...all, ...variant })
}

/** A lookup of a text of each form. */
function* lookupStatements() {
  const texts = ['acme', 'ada@example.com', '+41791234567', '192.0.2.1', 'https://app.example/', 'app:/back']
  for (const text of [...texts, ...ID_PREFIXES.map((prefix) => newId(prefix))]) {
    const { objects } = listSearches(text)
    if (objects.length > 0) yield matchesStatement(TENANT, objects)
  }
}

/**
 * Variants of the statements of lists, whose texts depend on the filter, the order and the page; each text
 * once.
 */
export function listVariants(): BoundStatement[] {
  const all: BoundStatement[] = [
    ...clientStatements(),
    ...tenantStatements(),
    ...organizationStatements(),
    ...sessionStatements(),
    ...userStatements(),
    ...eventStatements(),
    ...lookupStatements(),
  ] as unknown as BoundStatement[]
  return [...new Map(all.map((one) => [one.text, one])).values()]
}
