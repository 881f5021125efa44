import type pg from 'pg'
import { describe, expect, vi } from 'vitest'
import type { Ctx } from '../../src/context/context.ts'
import { LIST_SETTINGS } from '../../src/database/settings.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import type { PageArgs } from '../../src/schema/page.ts'
import { MAX_SORTED, USER_FILTER, type UserFilterMember } from '../../src/users/list/user-filter.fields.ts'
import { listUsers } from '../../src/users/list/user-list.ts'
import {
  FLAG_MEMBERS,
  selectUserList,
  USER_LISTS,
  type UserList,
} from '../../src/users/list/user-list-plans.ts'
import { exportUsers } from '../../src/users/transfer/export.ts'
import { importUsers } from '../../src/users/transfer/import.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { test as base } from '../support/list-plans.ts'
import {
  BATCH,
  captureStatements,
  explain,
  explainForValues,
  type Plan,
  type PlanNode,
  type Statement,
  toExecute,
} from '../support/plans.ts'
import { hasServices } from '../support/services.ts'

const USERS = 30_000
const OTHER_TENANTS = 10
const PAGE_SIZE = 20
const DEEP_PAGE = 100

/** One name of 40 and 100 users at each time are equal; a third of every column is null. */
const FILL_USERS = `
  INSERT INTO "User" ("tenantId", "id", "name", "email", "emailKey", "phoneNumber", "phoneNumberKey", "externalId", "locked",
    "emailVerified", "phoneNumberVerified", "hasCredential", "createdAt", "updatedAt", "lastSeenAt", "appMetadata", "roles")
  SELECT $1, 'user_' || lpad(i::text, 26, '0'),
    CASE WHEN i % 3 > 0 THEN (ARRAY['Anna', 'Łukasz', 'Søren', 'Zoë'])[1 + i % 4] || ' Family' || i / 7 % 10 END,
    e, e, CASE WHEN i % 3 = 1 THEN '+4179' || i END, CASE WHEN i % 3 = 1 THEN '+4179' || i END,
    CASE WHEN i % 3 = 2 THEN 'crm-' || i END, i % 5 = 0, i % 2 = 0, i % 7 = 0, i % 4 = 0,
    t, t, CASE WHEN i % 3 = 0 THEN t END, jsonb_build_object('plan', i % 2, 'org', jsonb_build_object('region', i % 3)),
    CASE WHEN i % 12 = 0 THEN '{support}' ELSE '{}' END::text[]
  FROM generate_series($2::int + 1, $2::int + ${BATCH}) i, LATERAL (SELECT
    CASE WHEN i % 3 < 2 THEN 'p' || i || '@example.com' END AS e, '2026-01-01'::timestamptz + i / 100 * interval '1 hour' AS t) x`

async function fillUsers(admin: pg.Client, tenant: string, users: number): Promise<void> {
  for (let from = 0; from < users; from += BATCH) await admin.query(FILL_USERS, [tenant, from])
  await admin.query(
    `INSERT INTO "IdentityProvider" ("tenantId", "id", "type", "name") VALUES ($1, 'acme', 'oidc', 'Acme')`,
    [tenant],
  )
  await admin.query(
    `INSERT INTO "IdpUser" ("tenantId", "id", "userId", "idpId", "externalId")
     SELECT $1, 'idpuser_' || "id", "id", 'acme', "id" FROM "User" WHERE "tenantId" = $1 AND ("hasCredential" OR $2)`,
    [tenant, users < USERS],
  )
  await admin.query(
    `INSERT INTO "Organization" ("tenantId", "id", "slug", "name") VALUES ($1, 'organization_1', 'acme', 'Acme')`,
    [tenant],
  )
  await admin.query(
    `INSERT INTO "Membership" ("tenantId", "id", "organizationId", "userId", "joinedVia")
     SELECT $1, 'membership_' || "id", 'organization_1', "id", 'import' FROM "User" WHERE "tenantId" = $1 AND ("hasCredential" OR $2)`,
    [tenant, users < USERS],
  )
}

/**
 * Values of each member of the filter. They find more than DEEP_PAGE pages, except those of unique members.
 */
const SAMPLES: Record<UserFilterMember, object[]> = {
  search: [{ search: 'family' }, { search: 'an fam' }, { search: 'p1' }],
  email: [{ email: 'p300@example.com' }],
  phoneNumber: [{ phoneNumber: '+41791234567' }],
  externalId: [{ externalId: 'crm-302' }],
  locked: [{ locked: true }, { locked: false }, { locked: true, emailVerified: false }],
  emailVerified: [{ emailVerified: true }, { emailVerified: false, hasCredential: false }],
  phoneNumberVerified: [{ phoneNumberVerified: true }, { phoneNumberVerified: false }],
  hasCredential: [
    { hasCredential: true },
    { locked: false, emailVerified: true, phoneNumberVerified: false, hasCredential: true },
  ],
  role: [{ role: 'support' }],
  idpId: [{ idpId: 'acme' }],
  organizationId: [{ organizationId: 'organization_1' }],
  createdAt: [
    { createdAt: { gte: '2026-01-02T00:00:00Z' } },
    { createdAt: { gte: '2026-01-02T00:00:00Z', lt: '2026-06-01T00:00:00Z' } },
  ],
  updatedAt: [{ updatedAt: { lt: '2026-06-01T00:00:00Z' } }],
  lastSeenAt: [
    { lastSeenAt: { gte: '2026-01-02T00:00:00Z' } },
    { lastSeenAt: { lt: '2026-06-01T00:00:00Z' } },
  ],
  appMetadata: [{ appMetadata: { plan: 1 } }, { appMetadata: { plan: 1, 'org.region': 2 } }],
}
/** Further members of a filter are conditions on the rows found: no order or index is required of them. */
const COMPANIONS: object[] = [
  { locked: false },
  { idpId: 'acme' },
  { appMetadata: { plan: 0 } },
  { createdAt: { gte: '2026-01-02T00:00:00Z' } },
  Object.assign({}, ...USER_FILTER.names.map((member) => SAMPLES[member][0])),
]

/** It finds less than MAX_SORTED users. */
const SORTED_SEARCH = { search: 'p12' }
const isSortedSearch = ({ by, order }: UserList): boolean => by.includes('search') && order !== 'word'

type Case = { title: string; list: UserList; args: object; isFiltered: boolean }
const listCases = (list: UserList): Case[] => {
  const filters =
    list.by.length === 0
      ? [{}]
      : isSortedSearch(list)
        ? [SORTED_SEARCH]
        : list.by.flatMap((member) => SAMPLES[member])
  const companions = list.combinable.length > FLAG_MEMBERS.length ? COMPANIONS : []
  const filtered = filters
    .slice(0, 1)
    .flatMap((filter) => companions.map((other) => ({ ...other, ...filter })))
  // A list of one user, or with a fixed order, takes no other order.
  const isOrdered = (list.by.length === 0 || isSortedSearch(list)) && list.orderBy.length > 0
  const orders = isOrdered ? list.orderBy : [null, ...list.orderBy]
  return [...filters, ...filtered].flatMap((filter) =>
    (filtered.includes(filter) && !isSortedSearch(list) ? [null] : orders).flatMap((orderBy) =>
      ['asc', 'desc'].map((direction) => ({
        title: `${JSON.stringify(filter)} by ${orderBy ?? 'its default order'}, ${direction}`,
        list: selectUserList(USER_FILTER.pickGiven(USER_FILTER.shape.parse(filter)), orderBy),
        args: { filter, orderBy, direction },
        isFiltered: filtered.includes(filter),
      })),
    ),
  )
}
const cases = USER_LISTS.flatMap(listCases)

/** Indexes for conditions on one user at a time. */
const LOOKUPS = [
  'User_pkey',
  'UserTerm_tenantId_userId_term_idx',
  'IdpUser_user_idp_key',
  'Membership_user_key',
  'IdpUser_tenantId_idpId_userId_idx',
]

const isScan = ({ 'Node Type': type }: PlanNode): boolean =>
  /Scan$/.test(type) && !/^(CTE|Function|Subquery|Values|Result)/.test(type)

/** A page by offset of all users also reads the ranges of the tenant, by their key. */
const isOfRanges = ({ 'Relation Name': table, 'Index Name': index }: PlanNode): boolean =>
  table === 'UserRange' || index === 'UserRange_pkey'

/** The planner uses one of several indexes that find one user. */
const UNIQUE = ['User_email_key', 'User_phoneNumber_key', 'User_externalId_key']

/**
 * Asserts that a plan reads the index of its list and no other, for this tenant only, and for a page no more
 * rows than the page. By offset it reads the index up to the page; a count reads every row that it counts.
 */
function assertPlan(
  { nodes, text }: Plan,
  { list, isFiltered }: Case,
  what: 'page' | 'offset' | 'count',
): void {
  const isUnique = list.by.length > 0 && list.indexes.some((index) => UNIQUE.includes(index))
  const leading = isUnique ? UNIQUE : list.indexes
  const scans = nodes.filter((node) => isScan(node) && !isOfRanges(node))
  const kinds = new Set(scans.map(({ 'Node Type': type }) => type))
  expect(
    [...kinds].filter((kind) => !/^Index( Only)? Scan$/.test(kind)),
    text,
  ).toEqual([])
  for (const scan of scans) {
    expect(scan['Index Cond'], text).toContain('"tenantId" = ')
    expect([...leading, ...LOOKUPS], text).toContain(scan['Index Name'])
  }
  expect(
    scans.map(({ 'Index Name': name }) => name).some((name) => leading.includes(name ?? '')),
    text,
  ).toBe(true)
  if (what === 'count') return
  const isOfTerms = list.indexes.includes('UserTerm_pkey')
  const branches = list.by.includes('locked') ? 2 ** FLAG_MEMBERS.length : 1
  const most = (PAGE_SIZE + 1 + (what === 'offset' ? DEEP_PAGE * PAGE_SIZE : 0)) * branches
  const sorts = nodes.filter(({ 'Node Type': type }) => type.includes('Sort'))
  for (const { Plans: [input] = [] } of sorts)
    expect((input?.['Actual Rows'] ?? 0) * (input?.['Actual Loops'] ?? 1), text).toBeLessThanOrEqual(
      isSortedSearch(list) ? MAX_SORTED + 1 : branches > 1 ? most : PAGE_SIZE + 1,
    )
  if (!isFiltered && !isOfTerms)
    for (const scan of scans) expect(scan['Rows Removed by Filter'] ?? 0, text).toBe(0)
}

/**
 * The plans of the one statement of a list. The list without a filter is prepared, so it is also planned for
 * any values.
 */
async function planList(admin: pg.Client, { list }: Case, work: () => Promise<unknown>): Promise<Plan[]> {
  const [statement, ...rest] = await captureStatements(work)
  if (!statement || rest.length > 0) throw new Error('a list is one statement')
  for (const [name, value] of Object.entries(LIST_SETTINGS)) await admin.query(`SET ${name} = ${value}`)
  const plans = await explain(admin, statement)
  const isPlain = list.by.length === 0 && list.order === 'id'
  return plans.filter(({ kind }) => isPlain || kind === 'force_custom_plan')
}

/** `test` with the context of a tenant with many users. */
const test = base.extend('users', { scope: 'file' }, async ({ admin }): Promise<Ctx> => {
  const tables = ['User', 'UserTerm', 'IdpUser', 'Membership']
  for (const table of tables) await admin.query(`ALTER TABLE "${table}" SET (autovacuum_enabled = false)`)
  for (let other = 0; other < OTHER_TENANTS; other += 1)
    await fillUsers(admin, await newTenant(), USERS / OTHER_TENANTS)
  const tenant = await newTenant()
  await fillUsers(admin, tenant, USERS)
  for (const table of tables) await admin.query(`VACUUM ANALYZE "${table}"`)
  return ctxFor(tenant)
})

// The first test fills the tenants.
vi.setConfig({ testTimeout: 120_000 })

describe.runIf(hasServices)('a list of users', () => {
  test.for(cases.map((one) => [one.title, one] as const))(
    'filtered by %s reads its index only',
    async ([, one], { admin, users }) => {
      const { args, list, isFiltered } = one
      const deepPage = isSortedSearch(list) ? DEEP_PAGE / 5 : DEEP_PAGE
      const page = (paging: PageArgs) => () => listUsers(users, { ...args, ...paging })
      const first = await planList(admin, one, page({ first: PAGE_SIZE }))
      for (const plan of first) assertPlan(plan, one, 'page')
      if (list.by.length > 0) {
        const start = await page({ first: 1 })()
        for (const plan of await planList(admin, one, () => start.countAll())) assertPlan(plan, one, 'count')
      }
      for (const plan of await planList(admin, one, page({ page: deepPage, pageSize: PAGE_SIZE })))
        assertPlan(plan, one, 'offset')
      // A filter by a unique member, or by several members, finds fewer pages.
      if (isFiltered || list.orderBy.length > 1) return
      const deep = await page({ page: deepPage, pageSize: PAGE_SIZE })()
      expect(deep.rows).toHaveLength(PAGE_SIZE)
      const cursor = deep.encodeRowCursor(deep.rows[0] as never)
      for (const paging of [
        { first: PAGE_SIZE, after: cursor },
        { last: PAGE_SIZE, before: cursor },
        { last: PAGE_SIZE },
      ])
        for (const [index, plan] of (await planList(admin, one, page(paging))).entries()) {
          assertPlan(plan, one, 'page')
          expect(plan.buffers, plan.text).toBeLessThan(1.3 * (first[index]?.buffers ?? 0) + 30)
        }
    },
  )
})

describe.runIf(hasServices)('a page by offset that is nearer to the end of all users', () => {
  const ofFields = cases.filter(({ list }) => list.by.length === 0 && list.order !== 'id')
  const AFTER = 1000

  test.for(ofFields.map((one) => [one.title, one] as const))(
    'reads the rows after it only: %s',
    async ([, { args }], { admin, users }) => {
      const page = (USERS - AFTER) / PAGE_SIZE
      const [count, statement, ...rest] = await captureStatements(() =>
        listUsers(users, { ...args, page, pageSize: PAGE_SIZE }),
      )
      expect([count?.text, rest]).toEqual([expect.stringContaining('"UserCount"'), []])
      for (const [name, value] of Object.entries(LIST_SETTINGS)) await admin.query(`SET ${name} = ${value}`)
      const { nodes, text } = await explainForValues(admin, statement as Statement)
      const reads = nodes
        .filter(isScan)
        .map((node) => (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 0))
      // The rows after it, those of the page, and those that are added to their keys.
      expect(
        reads.reduce((sum, read) => sum + read, 0),
        text,
      ).toBeLessThanOrEqual(AFTER + 3 * (PAGE_SIZE + 1))
    },
  )
})

/** How often PostgreSQL has planned a statement for its values and for any, when it is executed eight times. */
async function countPlans(client: pg.Client, { text, values }: Statement) {
  await client.query(`PREPARE listed AS ${text}`)
  for (let time = 0; time < 8; time++) await client.query(toExecute(client, 'listed', values))
  const { rows } = await client.query<{ generic: string; custom: string }>(
    "SELECT generic_plans AS generic, custom_plans AS custom FROM pg_prepared_statements WHERE name = 'listed'",
  )
  await client.query('DEALLOCATE listed')
  return rows[0]
}

describe.runIf(hasServices)('a page of all users', () => {
  test.for<[name: string, paging: PageArgs]>([
    ['the first one', { first: 50 }],
    ['one after a cursor', { first: 50, after: 'cursor' }],
    ['one by offset', { page: 0, pageSize: 100 }],
  ])('keeps its plan, which sorts no rows: %s', async ([, paging], { admin, users }) => {
    const { rows, encodeRowCursor } = await listUsers(users, { first: 1 })
    const after = paging.after && encodeRowCursor(rows[0] as User)
    const [statement] = await captureStatements(() =>
      listUsers(users, { ...paging, ...(after && { after }) }),
    )
    await admin.query('SET plan_cache_mode = auto')
    expect(await countPlans(admin, statement as Statement)).toEqual({ generic: '3', custom: '5' })
    for (const { nodes } of await explain(admin, statement as Statement))
      expect(nodes.map((node) => node['Node Type']).filter((type) => type !== 'Result')).toEqual([
        'Limit',
        'Index Scan',
      ])
  })
})

const [KNOWN_USERS, NEW_USERS, LINES] = [20_000, 5000, 200]
const FILL_IMPORT_TENANT = `
  INSERT INTO "User" ("tenantId", "id", "externalId", "email", "emailKey", "phoneNumber", "phoneNumberKey")
  SELECT $1, 'user_' || lpad(i::text, 26, '0'), 'crm-' || i, e, e, CASE WHEN i % 2 = 0 THEN '+43664' || i END,
    CASE WHEN i % 2 = 0 THEN '+43664' || i END
  FROM generate_series(1, $2::int) i, LATERAL (SELECT 'p' || i || '@example.com' AS e) x`
const toLine = (n: number) =>
  `${JSON.stringify({ externalId: `crm-${n}`, email: `p${n}@example.com`, name: 'Ada', ...(n % 2 === 0 && { phoneNumber: `+43664${n}` }) })}\n`

async function* readLines(first: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(Array.from({ length: LINES }, (_, i) => toLine(first + i)).join(''))
}

describe.runIf(hasServices)('an import or export of a tenant that the statistics do not know', () => {
  test('finds users by their keys and reads no others', async ({ admin }) => {
    await admin.query(FILL_IMPORT_TENANT, [await newTenant(), KNOWN_USERS])
    await admin.query('ANALYZE "User"')
    const ctx = await ctxFor(await newTenant())
    await admin.query(FILL_IMPORT_TENANT, [ctx.tenant, NEW_USERS])
    const sent = await captureStatements(async () => {
      // Half of the lines name existing users.
      for await (const results of importUsers(ctx, readLines(NEW_USERS - LINES / 2)))
        expect(results).toBeTruthy()
      await exportUsers(ctx, { afterId: 'user_00000000000000000000004000' }).next()
    })
    const settings = sent.find(({ text }) => text.includes('set_config')) as Statement
    const statements = sent.filter(({ text }) => /FROM "User"/.test(text))
    expect(statements.map(({ text }) => text.trim().slice(0, 6))).toEqual(['SELECT', 'WITH o', 'SELECT'])
    for (const statement of statements) {
      await admin.query('BEGIN')
      try {
        await admin.query(settings)
        const [plan] = await explain(admin, statement)
        expect(plan?.kind).toBe('force_custom_plan')
        expect(plan?.sequential, plan?.text).toEqual([])
        for (const node of plan?.nodes ?? [])
          if (node['Relation Name'] === 'User' && node['Node Type'].includes('Scan')) {
            const loops = node['Actual Loops'] ?? 0
            const read = ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * loops
            expect(read, plan?.text).toBeLessThanOrEqual(LINES)
          }
      } finally {
        await admin.query('ROLLBACK')
      }
    }
  })
})
