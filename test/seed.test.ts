import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { listClients } from '../src/clients/client-list.ts'
import { type Ctx, platformCtx } from '../src/ctx.ts'
import { parse } from '../src/fields.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { exportUsers } from '../src/users/export.ts'
import { UserLine } from '../src/users/import.fields.ts'
import { importUsers } from '../src/users/import.ts'
import { toColumns } from '../src/users/user-body.ts'
import { listUsers } from '../src/users/user-list.ts'
import { createPeople, type SeedOptions } from './seed/people.ts'
import { seedTenant } from './seed/tenant.ts'
import { logOf } from './support/events.ts'

vi.setConfig({ testTimeout: 120_000 })
beforeAll(openRuntime)
afterAll(closeRuntime)

const UNTIL = new Date('2026-11-20T00:00:00Z')
const options = (users: number, randomSeed = 1): SeedOptions => ({
  users,
  sessions: users / 2,
  randomSeed,
  clientIds: ['client_a'],
  until: UNTIL,
})

// biome-ignore lint/suspicious/noExplicitAny: lines are looked into
type Line = any
const ctxOf = (tenant: string): Ctx => ({
  ...platformCtx(tenant),
  scopes: new Set(['users:read_app_metadata']),
})
async function take(pages: AsyncIterable<object[]>): Promise<Line[]> {
  const taken: Line[] = []
  for await (const some of pages) taken.push(...some)
  return taken
}

describe('seeded people', () => {
  it('are the same for the same seed, and others for another', () => {
    const [first, again, other] = [1, 1, 2].map((seed) => [...createPeople(options(200, seed))])
    expect(again).toEqual(first)
    expect(other?.[0]).not.toEqual(first?.[0])
  })

  it('came one after the other, each before anything of theirs', () => {
    const people = [...createPeople(options(500))]
    const ids = people.map(({ user }) => user.id)
    expect([...new Set(ids)].sort()).toEqual(ids)
    for (const { user, sessions } of people as Line[]) {
      for (const at of [
        user.lastSeenAt,
        user.updatedAt,
        ...sessions.map((session: Line) => session.createdAt),
      ])
        if (at) expect(at.getTime()).toBeGreaterThanOrEqual(user.createdAt.getTime())
      expect(user.createdAt.getTime()).toBeLessThan(UNTIL.getTime())
    }
  })

  it('are as the management surface would have written them', () => {
    for (const { user } of createPeople(options(2000)) as Iterable<Line>) {
      const { addressLocality, addressCountry, emailKey, phoneNumberKey, roles, hasCredential, ...fields } =
        user
      const line = parse(UserLine, fields)
      const { id, lockedAt, lastSeenAt, updatedAt, createdAt, externalId, ...written } = line
      expect(toColumns(written)).toMatchObject({
        emailKey,
        phoneNumberKey,
        email: user.email,
        locale: user.locale,
      })
      expect([roles, typeof hasCredential]).toEqual([[], 'boolean'])
    }
  })
})

describe('a seeded tenant', () => {
  const ctx = ctxOf('seeded')
  beforeAll(() =>
    seedTenant(
      { tenant: 'seeded', users: 1500, sessions: 500, clients: 5, randomSeed: 1, until: new Date() },
      { parallel: 2 },
    ),
  )

  it('is counted, searched, listed and exported like any other', async () => {
    const users = await take(exportUsers(ctx))
    expect(users).toHaveLength(1500)
    expect(await (await listUsers(ctx, {})).countAll()).toBe(1500)
    const { familyName } = users.find(({ locale }) => locale === 'de-AT')
    const found = await listUsers(ctx, { filter: { search: familyName }, pageSize: 1000 })
    expect(found.rows.map((user) => user.familyName)).toContain(familyName)
    expect((await listClients(ctx, {})).rows).toHaveLength(5)
    const text = users.map((user) => `${JSON.stringify(user)}\n`).join('')
    async function* chunks() {
      yield Buffer.from(text)
    }
    expect((await take(importUsers(ctx, chunks()))).at(-1)).toEqual({
      summary: { lastLine: 1500, created: 0, updated: 0, unchanged: 1500, failed: 0 },
    })
  })

  it('has some of everything', async () => {
    const users = await take(exportUsers(ctx))
    const share = (isSo: (user: Line) => unknown) => users.filter(isSo).length / users.length
    expect(share(({ locked }) => locked)).toBeGreaterThan(0)
    expect(share(({ locked }) => locked)).toBeLessThan(0.05)
    expect(share(({ phoneNumber }) => phoneNumber)).toBeGreaterThan(0.2)
    expect(share(({ email }) => email)).toBeLessThan(1)
    expect(share(({ name }) => /[^\p{Script=Latin}\p{Script=Common}]/u.test(name))).toBeGreaterThan(0.2)
    const told = new Set((await logOf('seeded')).map(({ type }) => type))
    expect([...told]).toEqual(expect.arrayContaining(['user.created', 'session.started', 'session.ended']))
  })

  it('is not seeded again over its users', async () => {
    await expect(
      seedTenant({ tenant: 'seeded', users: 1, sessions: 0, clients: 0, randomSeed: 1, until: new Date() }),
    ).rejects.toThrow('has 1500 users already')
  })
})

describe('npm run seed', () => {
  async function seed(args: string[], variables: Record<string, string> = {}) {
    const child = spawn(process.execPath, ['--import', 'tsx', 'test/seed.ts', ...args], {
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const run = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (chunk) => {
        run[name] += chunk
      })
    const [code] = await once(child, 'close')
    return { code, ...run }
  }

  it('fills the tenant that it is told to', async () => {
    const run = await seed(['--users', '1200', '--tenant', 'by-script', '--sessions', '0', '--clients', '0'])
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('by-script has 1,200 users now') })
    expect(await (await listUsers(ctxOf('by-script'), {})).countAll()).toBe(1200)
  })

  it('leaves production alone unless it is asked twice', async () => {
    const production = {
      NODE_ENV: 'production',
      BASE_URL: 'https://id.example.com',
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/nothing',
      SMTP_URL: 'smtp://127.0.0.1:1',
    }
    expect(await seed(['--users', '10'], production)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'This writes made-up people. In production it wants to be asked with --force.\n',
    })
    expect(await seed(['--users', 'many'])).toMatchObject({
      code: 1,
      stderr: '--users must be a whole number.\n',
    })
  })
})
