import { spawn } from 'node:child_process'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { findClient, isClientSecret } from '../src/clients/client-cache.ts'
import { createClient } from '../src/clients/clients.ts'
import { open } from '../src/crypto.ts'
import { platformCtx } from '../src/ctx.ts'
import { dbFor, sql } from '../src/db.ts'
import type { IdentityProvider } from '../src/generated/prisma/client.ts'
import { answerOnce } from '../src/idempotency.ts'
import { openSecrets } from '../src/idps/idp-secrets.ts'
import { createIdentityProvider } from '../src/idps/idps.ts'
import { getSigningKeys, rotateSigningKeys } from '../src/oidc/keys/key-rotation.ts'
import { selectSigningKeys } from '../src/oidc/keys/keys.sql.ts'
import { issuerOf, SEAL_PURPOSE, signJwt, verifyJwt } from '../src/oidc/keys/keys.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { SIGNING_ALGORITHMS } from '../src/signing-algorithms.ts'
import { findTenant } from '../src/tenants/tenant-cache.ts'
import { getUserByEmail } from '../src/users/users.ts'
import { newTenant } from './support/actors.ts'
import { logOf } from './support/events.ts'

type Run = { code: number | null; stdout: string; stderr: string }

/** Runs `vestibule …` as its own process, beside this one that has the database open. */
function vestibule(args: string[], variables: Record<string, string> = {}): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli.ts', ...args], {
      env: { ...process.env, NO_COLOR: '1', ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

// Each run starts a process that compiles the program first.
vi.setConfig({ testTimeout: 90_000 })

beforeAll(openRuntime)
afterAll(closeRuntime)

it('vestibule --version tells which one it is', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(await vestibule(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

describe('vestibule tenant', () => {
  it('creates, lists and deletes tenants', async () => {
    expect(await vestibule(['tenant', 'create', 'acme', '--friendly-name', 'Acme'])).toEqual({
      code: 0,
      stdout: 'Created tenant acme.\n',
      stderr: '',
    })
    expect(await findTenant('acme')).toMatchObject({ friendlyName: 'Acme' })
    const list = await vestibule(['tenant', 'list', '--json'])
    expect(JSON.parse(list.stdout)).toEqual([
      expect.objectContaining({ slug: 'acme', settings: expect.objectContaining({ friendlyName: 'Acme' }) }),
      expect.objectContaining({ slug: 'system' }),
    ])
    expect((await vestibule(['tenant', 'list'])).stdout).toMatch(
      /^SLUG +CREATED +NAME\nacme +\S+Z +Acme\nsystem/,
    )
    expect(await vestibule(['tenant', 'delete', 'acme'])).toMatchObject({
      code: 0,
      stdout: 'Deleted tenant acme.\n',
    })
    expect(await dbFor('acme').tenant.findUnique({ where: { tenantId: 'acme' } })).toBeNull()
    const told = await logOf('system')
    expect(told.map(({ type, requestId }) => [type, requestId])).toEqual([
      ['tenant.created', 'platform'],
      ['tenant.created', 'platform'],
      ['tenant.deleted', 'platform'],
    ])
  })

  it('names every faulty field and ends with 1', async () => {
    const args = ['tenant', 'create', 'Not A Slug', '--support-url', 'javascript:alert(1)']
    expect(await vestibule(args)).toEqual({
      code: 1,
      stdout: '',
      stderr: [
        'The request has invalid fields.',
        '  slug: must be lower-case letters, digits and single hyphens between them',
        '  settings.supportUrl: must be an http or https URL',
        '',
      ].join('\n'),
    })
    const asJson = await vestibule([...args, '--json'])
    expect(asJson).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(asJson.stderr)).toEqual({
      error: {
        code: 'BAD_USER_INPUT',
        message: 'The request has invalid fields.',
        fields: [
          expect.objectContaining({ field: 'slug' }),
          expect.objectContaining({ field: 'settings.supportUrl' }),
        ],
      },
    })
  })

  it('refuses what it does not understand or find', async () => {
    const cases: [args: string[], message: string][] = [
      [
        ['tenant', 'create', 'ok', '--freindly-name', 'x'],
        '--freindly-name: is not an option of this command',
      ],
      [['tenant', 'create', 'ok', 'surplus'], 'surplus: is one argument too many'],
      [['tenant', 'create'], 'Missing required positional argument: SLUG'],
      [['tenant', 'delete', 'never-made'], 'No such tenant.'],
      [['tenant', 'delete', 'system'], 'The tenant system cannot be deleted.'],
      [['tenant', 'rename'], 'Unknown command'],
      [['nonsense'], 'Unknown command'],
    ]
    const runs = await Promise.all(cases.map(([args]) => vestibule(args)))
    expect(runs).toEqual(
      cases.map(([, message]) => ({
        code: 1,
        stdout: expect.any(String),
        stderr: expect.stringContaining(message),
      })),
    )
    expect(await findTenant('ok')).toBeNull()
  })
})

describe('vestibule client', () => {
  it('creates a client, prints its secret once, and lists clients without', async () => {
    const tenant = await newTenant()
    const args = [
      '--tenant',
      tenant,
      '--name',
      'Shop',
      '--app-type',
      'web',
      '--callbacks',
      'https://a.example/cb,https://b.example/cb',
    ]
    const created = JSON.parse(
      (await vestibule(['client', 'create', ...args, '--scopes', 'users:read', '--json'])).stdout,
    )
    const client = await findClient(tenant, created.id)
    expect(client).toMatchObject({
      name: 'Shop',
      type: 'login',
      callbacks: ['https://a.example/cb', 'https://b.example/cb'],
      scopes: ['users:read'],
    })
    expect(client && isClientSecret(client, created.secret)).toBe(true)
    const list = await vestibule(['client', 'list', '--tenant', tenant, '--json'])
    expect(JSON.parse(list.stdout)).toEqual([expect.objectContaining({ id: created.id, name: 'Shop' })])
    expect(list.stdout).not.toContain('secret')
  })

  it('rotates a secret, prints the new one once, and deletes the client', async () => {
    const tenant = await newTenant()
    const { client, secret } = await createClient(platformCtx(tenant), {
      name: 'Shop',
      appType: 'web',
      type: 'login',
    })
    const at = ['--tenant', tenant]
    const faulty = await vestibule(['client', 'rotate-secret', client.id, ...at, '--overlap-seconds', 'day'])
    expect(faulty).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--overlap-seconds: must be a whole number from 0 to 2592000'),
    })
    const run = await vestibule([
      'client',
      'rotate-secret',
      client.id,
      ...at,
      '--overlap-seconds',
      '60',
      '--json',
    ])
    const rotated = JSON.parse(run.stdout)
    expect(rotated).toMatchObject({ id: client.id, previousSecretExpiresAt: expect.stringMatching(/Z$/) })
    const found = await findClient(tenant, client.id)
    const lives = [secret ?? '', rotated.secret].map((text) => found !== null && isClientSecret(found, text))
    expect(lives).toEqual([true, true])
    expect(await vestibule(['client', 'delete', client.id, ...at])).toEqual({
      code: 0,
      stdout: `Deleted client ${client.id}.\n`,
      stderr: '',
    })
    expect(await vestibule(['client', 'delete', client.id, ...at, '--yes'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'No such client.\n',
    })
    const told = (await logOf(tenant)).map(({ type, changedFields }) => [type, ...changedFields])
    expect(told.slice(-2)).toEqual([['client.updated', 'secret'], ['client.deleted']])
  })

  it('says that there is no such tenant', async () => {
    const run = await vestibule(['client', 'list', '--tenant', 'never-made'])
    expect(run).toEqual({ code: 1, stdout: '', stderr: 'No such tenant.\n' })
  })
})

describe('vestibule admin grant', () => {
  it('makes the first administrator, who exists from then on', async () => {
    const tenant = await newTenant()
    const run = await vestibule([
      'admin',
      'grant',
      'Boss@Acme.example',
      '--tenant',
      tenant,
      '--role',
      'admin',
      '--json',
    ])
    const user = await getUserByEmail(platformCtx(tenant), 'boss@acme.example')
    expect(user.roles).toEqual(['admin'])
    expect(JSON.parse(run.stdout)).toEqual({
      userId: user.id,
      email: 'Boss@Acme.example',
      roles: ['admin'],
      created: true,
    })
  })

  it('refuses a role that there is not', async () => {
    const run = await vestibule([
      'admin',
      'grant',
      'a@b.example',
      '--tenant',
      await newTenant(),
      '--role',
      'owner',
    ])
    expect(run.code).toBe(1)
    expect(run.stderr).toContain('admin, support, auditor')
  })
})

describe('vestibule keys re-encrypt', () => {
  it('seals every secret with the first key, so that the second can go', async () => {
    const tenant = await newTenant()
    const before = await findTenant(tenant)
    const once = () =>
      answerOnce(platformCtx(tenant), 'key', [], async () => ({
        answer: { secret: 'told once' },
        isFinal: true,
      }))
    await once()
    const idp = { id: 'up', type: 'google', name: 'Up', clientSecret: 'kept' }
    await createIdentityProvider(platformCtx(tenant), idp)
    // Keys of each algorithm that sign, and some that have signed.
    for (const idTokenSigningAlg of SIGNING_ALGORITHMS)
      await createClient(platformCtx(tenant), { name: 'A', appType: 'web', type: 'login', idTokenSigningAlg })
    await rotateSigningKeys(platformCtx(tenant), {})
    const [newKey, oldKey] = [
      Buffer.alloc(32, 'another').toString('base64url'),
      process.env.ENCRYPTION_KEY ?? '',
    ]
    const both = await vestibule(['keys', 're-encrypt', '--json'], { ENCRYPTION_KEY: `${newKey},${oldKey}` })
    const counts = JSON.parse(both.stdout)
    const [all] = await sql<{ tenants: number; keys: number }>(
      `SELECT (SELECT count("tenantId")::int FROM "Tenant") AS tenants, (SELECT count(*)::int FROM "SigningKey") AS keys WHERE $1 <> ''`,
      ['all'],
    )
    expect(counts).toMatchObject({ Tenant: all?.tenants, SigningKey: all?.keys, IdempotencyKey: 1 })
    expect(counts).toMatchObject({ IdpClientSecret: 1, IdpSigningKey: 0 })
    const again = await vestibule(['keys', 're-encrypt', '--json'], { ENCRYPTION_KEY: newKey })
    expect(new Set(Object.values(JSON.parse(again.stdout)))).toEqual(new Set([0]))
    const back = await vestibule(['keys', 're-encrypt', '--json'], { ENCRYPTION_KEY: `${oldKey},${newKey}` })
    expect(JSON.parse(back.stdout)).toEqual(counts)
    const keys = await selectSigningKeys(sql, tenant)
    expect(keys).toHaveLength(2 * SIGNING_ALGORITHMS.length)
    for (const { id, privateKey } of keys) {
      const key = createPrivateKey({ key: open(SEAL_PURPOSE, privateKey), format: 'der', type: 'pkcs8' })
      const jwk = createPublicKey(key).export({ format: 'jwk' })
      expect(await calculateJwkThumbprint(jwk as JWK)).toBe(id)
    }
    const row = await findTenant(tenant)
    expect(row?.tokenKey).toEqual(before?.tokenKey)
    expect(await once()).toEqual({ answer: { secret: 'told once' }, isReplayed: true })
    const [sealed] = await sql<IdentityProvider>('SELECT * FROM "IdentityProvider" WHERE "tenantId" = $1', [
      tenant,
    ])
    expect(sealed && openSecrets(sealed)).toMatchObject({ clientSecret: 'kept', idTokenSigningKey: null })
    const lost = await vestibule(['keys', 're-encrypt'], { ENCRYPTION_KEY: newKey })
    expect(lost.code).toBe(1)
    expect(lost.stderr).toContain('is not the one that this database was written with')
  })
})

describe('vestibule keys rotate', () => {
  it('publishes new keys that sign later, and says until when those before are published', async () => {
    const tenant = await newTenant()
    const [first] = await getSigningKeys(platformCtx(tenant))
    const run = await vestibule(['keys', 'rotate', '--tenant', tenant, '--activate-in', '3600', '--json'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const { keys } = JSON.parse(run.stdout) as { keys: { kid: string; activeAt: string }[] }
    expect(keys).toEqual([
      { kid: expect.any(String), alg: 'ES256', activeAt: expect.any(String), expiresAt: null },
      { kid: first?.kid, alg: 'ES256', activeAt: expect.any(String), expiresAt: expect.any(String) },
    ])
    expect(Date.parse(keys[0]?.activeAt ?? '')).toBeGreaterThan(Date.now() + 3000_000)
    // As text, and what it means for the server beside it: a token by the keys before is none.
    const token = await signJwt(tenant, 'JWT', { iss: issuerOf(tenant) })
    const text = await vestibule(['keys', 'rotate', '--tenant', tenant, '--retire-at-once'])
    expect(text.stdout).toMatch(/^KID +ALG +SIGNS FROM +PUBLISHED UNTIL\n[\w-]{43} +ES256 +\S+Z +-\n$/)
    await vi.waitFor(() => expect(verifyJwt(tenant, token, 'JWT')).rejects.toThrow('key'), 5000)
  })

  it('refuses what it does not understand', async () => {
    const tenant = await newTenant()
    const cases: [string[], string][] = [
      [['--activate-in', 'soon'], '--activate-in: must be a whole number from 0 to 2592000'],
      [['--activate-in='], '--activate-in: must be a whole number from 0 to 2592000'],
      [['--activate-in', '5', '--retire-at-once'], '--activate-in: must be 0 or omitted'],
      [['--tenant', 'nobody'], 'No such tenant.'],
    ]
    const runs = await Promise.all(
      cases.map(([args]) => vestibule(['keys', 'rotate', '--tenant', tenant, ...args])),
    )
    expect(runs).toEqual(
      cases.map(([, message]) => ({ code: 1, stdout: '', stderr: expect.stringContaining(message) })),
    )
    expect(await getSigningKeys(platformCtx(tenant))).toHaveLength(1)
  })
})

describe('a key that does not open the database', () => {
  it('is refused before anything is sealed with it', async () => {
    await newTenant()
    const ENCRYPTION_KEY = Buffer.alloc(32, 'another-key').toString('base64url')
    const run = await vestibule(['tenant', 'create', 'unreadable'], { ENCRYPTION_KEY })
    expect(run.code).toBe(1)
    expect(run.stderr).toContain('is not the one that this database was written with')
    expect(await findTenant('unreadable')).toBeNull()
  })
})

describe('vestibule migrate', () => {
  it('says that there is nothing to apply', async () => {
    expect(await vestibule(['migrate'])).toEqual({ code: 0, stdout: 'Nothing to apply.\n', stderr: '' })
  })
})
