import type pg from 'pg'
import { describe, expect, vi } from 'vitest'
import { listClients } from '../../src/clients/client-list.ts'
import { LIST_SETTINGS } from '../../src/database/settings.ts'
import { listEvents } from '../../src/events/list.ts'
import { encodePosition } from '../../src/model/event-position.ts'
import { listOrganizations } from '../../src/organizations/organizations.ts'
import type { ListArgs, PageArgs } from '../../src/schema/page.ts'
import type { SessionFilterMember } from '../../src/sessions/session-list.fields.ts'
import { listSessions, SESSION_LISTS } from '../../src/sessions/session-list.ts'
import { CLIENTS, EVENTS, SESSIONS, test } from '../support/list-plans.ts'
import { captureStatements, explainForValues, type Plan } from '../support/plans.ts'
import { hasServices } from '../support/services.ts'

/** The plans of the statements that `work` sends, for their values. */
async function planStatements(admin: pg.Client, work: () => Promise<unknown>): Promise<Plan[]> {
  const plans: Plan[] = []
  for (const statement of await captureStatements(work)) plans.push(await explainForValues(admin, statement))
  return plans
}

// The first test of each list fills its tenants.
vi.setConfig({ testTimeout: 120_000 })

describe.runIf(hasServices)('a list of clients', () => {
  const PAGE = 20
  /** Pages of the database that a page of the list reads at most, for each type of application. */
  const BUFFERS = PAGE * 4 * 6

  test.for<[filter: object, indexes: string[]]>([
    [{}, ['Client_pkey']],
    [{ type: 'payment' }, ['Client_tenantId_type_appType_id_idx']],
    // Nearly all clients have this type: either index reads as little.
    [{ type: 'login' }, ['Client_tenantId_type_appType_id_idx', 'Client_tenantId_appType_id_idx']],
    [{ appType: 'native' }, ['Client_tenantId_appType_id_idx']],
    [{ type: 'payment', appType: 'web' }, ['Client_tenantId_type_appType_id_idx']],
  ])('with filter %j reads its index only', async ([filter, indexes], { admin, clients }) => {
    const middle = await listClients(clients, { filter, page: 2, pageSize: PAGE })
    const row = middle.rows[0]
    const cursor = row && middle.encodeRowCursor(row)
    const pages: PageArgs[] = [
      { first: PAGE },
      { last: PAGE },
      { first: PAGE, after: cursor },
      { last: PAGE, before: cursor },
      { page: 2, pageSize: PAGE },
    ]
    for (const page of pages) {
      const [plan] = await planStatements(admin, () => listClients(clients, { filter, ...page }))
      const about = `${JSON.stringify(page)} ${plan?.text}`
      expect(plan?.sequential, about).toEqual([])
      expect(plan?.indexes.filter((name) => indexes.includes(name)).length, about).toBeGreaterThan(0)
      if (!('page' in page)) expect(plan?.buffers, about).toBeLessThan(BUFFERS)
    }
    // A count of most rows reads the table.
    if (indexes.length > 1 || Object.keys(filter).length === 0) return
    const [count] = await planStatements(admin, () => middle.countAll())
    expect(count?.sequential, count?.text).toEqual([])
  })
})

describe.runIf(hasServices)('a list of organizations', () => {
  const PAGE = 20

  test.for<[args: ListArgs, index: string]>([
    [{}, 'Organization_pkey'],
    [{ direction: 'desc' }, 'Organization_pkey'],
    [{ orderBy: 'name' }, 'Organization_tenantId_nameKey_id_idx'],
    [{ filter: { externalId: 'crm-7' } }, 'Organization_externalId_key'],
    [{ filter: { search: 'acme' } }, 'OrganizationTerm_pkey'],
    [{ filter: { search: 'glob 77' } }, 'OrganizationTerm_pkey'],
  ])('by %j reads its index only', async ([args, index], { admin, organizations }) => {
    // As on the connections of lists.
    for (const [name, value] of Object.entries(LIST_SETTINGS)) await admin.query(`SET ${name} = ${value}`)
    const [plan] = await planStatements(admin, () =>
      listOrganizations(organizations, { ...args, first: PAGE }),
    ).finally(() => admin.query('RESET ALL'))
    expect(plan?.sequential, plan?.text).toEqual([])
    expect(plan?.indexes, plan?.text).toContain(index)
    expect(plan?.buffers, plan?.text).toBeLessThan(PAGE * 25)
  })
})

describe.runIf(hasServices)('a search of clients', () => {
  test.for([{ search: '5999' }, { search: 'app 5999 client_', type: 'login' }])(
    'by %j reads each client once at most, in one statement',
    async (filter, { admin, clients }) => {
      const page = await listClients(clients, { filter, first: 20 })
      expect(page.rows.length).toBeGreaterThan(0)
      for (const read of [() => listClients(clients, { filter, first: 20 }), () => page.countAll()]) {
        const [plan, ...rest] = await planStatements(admin, read)
        expect(rest).toEqual([])
        const scans = plan?.nodes.filter((node) => node['Relation Name'] === 'Client') ?? []
        const rows = scans.map(
          (node) =>
            ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) *
            (node['Actual Loops'] ?? 1),
        )
        // The table has those of ten small tenants as well.
        const found = page.rows.length
        expect(
          rows.reduce((sum, each) => sum + each, 0),
          plan?.text,
        ).toBeLessThanOrEqual(2 * CLIENTS + found)
      }
    },
  )
})

describe.runIf(hasServices)('a list of events', () => {
  const PAGE = 50
  /** Pages of the database that fifty events of each of two types take at most. */
  const BUFFERS = 2 * PAGE * 8
  const USER = 'user_01m7xeb1sbendby702xer00007'
  const ADMIN = 'user_01m7xeb1sbendby702xer00003'
  const SESSION = 'session_01m7xeb1sbendby702xer00010'
  const CLIENT = 'client_01m7xeb1sbendby702xer00001'
  const THING = 'cred_01m7xeb1sbendby702xer00020'
  const ADDRESS = 'ada@example.com'
  const ago = (entries: number) => new Date(Date.now() - entries * 10_000).toISOString()
  const TYPE = 'Event_tenantId_type_era_xid_seq_idx'
  const IP = 'Event_ip_idx'
  const OCCURRED = 'Event_tenantId_occurredAt_idx'
  const FILTERS: [string, object, string][] = [
    ['nothing', {}, 'Event_pkey'],
    ['a type that is rare', { types: ['key.rotated'] }, TYPE],
    ['types', { types: ['user.updated', 'key.rotated'] }, TYPE],
    ['a user', { subjectId: USER }, 'Event_tenantId_userId_era_xid_seq_idx'],
    ['a session', { subjectId: SESSION }, 'Event_tenantId_sessionId_era_xid_seq_idx'],
    ['another subject', { subjectId: THING }, 'Event_subject_idx'],
    ['the user who acted', { actorId: ADMIN }, 'Event_tenantId_actorUserId_era_xid_seq_idx'],
    ['the client that acted', { actorId: CLIENT }, 'Event_tenantId_actorClientId_era_xid_seq_idx'],
    ['a request', { requestId: 'request-5' }, 'Event_request_idx'],
    ['a device', { deviceId: 'device-7' }, 'Event_tenantId_deviceId_era_xid_seq_idx'],
    ['an IP address', { ip: '203.0.5.7' }, IP],
    ['a frequent IP address', { ip: '198.51.100.7' }, IP],
    ['an IP address and types', { ip: '203.0.5.7', types: ['user.updated'] }, IP],
    ['a network', { ip: '203.0.5.0/28' }, IP],
    ['a network of most events', { ip: '0.0.0.0/0' }, 'Event_pkey'],
    ['an address', { address: ADDRESS }, 'Event_tenantId_addressHash_era_xid_seq_idx'],
    [
      'an address and types',
      { address: ADDRESS, types: ['user.updated'] },
      'Event_tenantId_addressHash_era_xid_seq_idx',
    ],
    [
      'a user and types',
      { subjectId: USER, types: ['user.updated'] },
      'Event_tenantId_userId_era_xid_seq_idx',
    ],
  ]
  const TIMES: [string, object | null][] = [
    ['at any time', null],
    ['since', { gte: ago(EVENTS / 2) }],
    ['until', { lt: ago(EVENTS / 2) }],
    ['between', { gte: ago(EVENTS * 0.6), lt: ago(EVENTS * 0.4) }],
  ]
  const cases = FILTERS.flatMap(([what, filter, index]) =>
    TIMES.map(
      ([when, occurredAt]) =>
        [
          what,
          when,
          occurredAt ? { ...filter, occurredAt } : filter,
          [index, ...(occurredAt ? [OCCURRED] : [])],
        ] as const,
    ),
  )

  test.for(cases)(
    'by %s %s reads its index only, at every page',
    async ([, , filter, indexes], { admin, events }) => {
      const middle = encodePosition({ era: 0, xid: BigInt(EVENTS / 2), seq: 0n })
      const pages: ListArgs[] = [
        { first: PAGE },
        { last: PAGE },
        { first: PAGE, after: middle },
        { last: PAGE, before: middle },
        { first: PAGE, direction: 'desc' },
        { first: PAGE, direction: 'desc', after: middle },
      ]
      for (const page of pages) {
        const [plan, ...rest] = await planStatements(admin, () => listEvents(events, { filter, ...page }))
        expect(rest).toEqual([])
        const about = `${JSON.stringify(page)} ${plan?.text}`
        expect(plan?.sequential, about).toEqual([])
        expect(plan?.indexes.toSorted(), about).toEqual(indexes.toSorted())
        expect(plan?.buffers, about).toBeLessThan(BUFFERS)
      }
    },
  )
})

describe.runIf(hasServices)('a list of sessions', () => {
  const PAGE = 50
  /** Pages of the database that fifty sessions take at most. */
  const BUFFERS = PAGE * 14
  const minutes = (ago: number) => new Date(Date.now() - ago * 60_000).toISOString()
  const range = { gte: minutes(SESSIONS * 0.9), lt: minutes(SESSIONS * 0.1) }
  const VALUES: Record<SessionFilterMember, unknown> = {
    userId: 'user_01m7xeb1sbendby702xer00007',
    clientId: 'client_01m7xeb1sbendby702xerkqv31',
    organizationId: 'organization_01m7xeb1sbendby702xerkqv31',
    ip: '203.0.113.7',
    createdAt: range,
    lastSeenAt: range,
  }
  const cases = SESSION_LISTS.flatMap(({ by, combinable: more, orders, indexes }) =>
    orders.flatMap((order) =>
      (['asc', 'desc'] as const).flatMap((direction) =>
        [[], more].slice(0, more.length > 0 ? 2 : 1).map((also) => {
          const members = [...(by ? [by] : []), ...also]
          return [members.join(', ') || 'nothing', order, direction, members, indexes[order] ?? ''] as const
        }),
      ),
    ),
  )

  test.for(cases)(
    'by %s in the order of %s %s reads its index only',
    async ([, order, direction, members, index], { admin, sessions }) => {
      const args: ListArgs = {
        filter: Object.fromEntries(members.map((member) => [member, VALUES[member]])),
        direction,
        ...(order !== 'id' && { orderBy: order }),
      }
      const deep = await listSessions(sessions, { ...args, page: 20, pageSize: PAGE })
      const page =
        deep.rows.length > 0 ? deep : await listSessions(sessions, { ...args, page: 0, pageSize: PAGE })
      const cursor = page.rows[0] ? page.encodeRowCursor(page.rows[0]) : undefined
      const atCursor = [
        { first: PAGE, after: cursor },
        { last: PAGE, before: cursor },
      ]
      const pages = [
        { first: PAGE },
        { last: PAGE },
        ...(cursor ? atCursor : []),
        { page: 3, pageSize: PAGE },
      ]
      for (const paging of pages) {
        const [plan, ...rest] = await planStatements(admin, () =>
          listSessions(sessions, { ...args, ...paging }),
        )
        expect(rest).toEqual([])
        const about = `${JSON.stringify(paging)} ${plan?.text}`
        expect(plan?.sequential, about).toEqual([])
        expect(plan?.indexes, about).toContain(index)
        if (!('page' in paging)) expect(plan?.buffers, about).toBeLessThan(BUFFERS)
      }
    },
  )

  test.for(['userId', 'clientId', 'organizationId', 'ip'] as const)(
    'by %s is counted by an index',
    async (member, { admin, sessions }) => {
      const page = await listSessions(sessions, { filter: { [member]: VALUES[member] } })
      const [plan] = await planStatements(admin, () => page.countAll())
      expect(plan?.sequential, plan?.text).toEqual([])
    },
  )
})
