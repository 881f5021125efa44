import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { issuerOf } from '../../src/core/issuer.ts'
import { getUserByEmail } from '../../src/users/users.ts'
import { tokenFor } from '../support/actors.ts'
import { vestibule } from '../support/cli.ts'
import { logOf } from '../support/events.ts'
import { hasServices } from '../support/services.ts'
import { test } from '../support/tenant-per-test.ts'

/** Variables under which citty colors its output. */
const COLORED = { NO_COLOR: '', TEST: '', CI: '', TERM: 'xterm' }

describe.runIf(hasServices)('the groups of commands', () => {
  test.for([
    ['user', 'users'],
    ['key', 'keys'],
    ['limit', 'limits'],
  ])('have singular names, and %s its former one', async ([name = '', former = '']) => {
    const [present, past] = await Promise.all([name, former].map((group) => vestibule([group, '--help'], {})))
    expect(present).toMatchObject({ code: 0, stdout: expect.stringContaining(`USAGE vestibule ${name} `) })
    expect(past).toEqual(present)
  })

  test('print errors and usage without escape codes into a pipe', async () => {
    for (const args of [['nonsense'], ['client', 'nonsense'], ['client', 'list'], ['client', '--help']]) {
      const { stdout, stderr } = await vestibule(args, COLORED)
      expect([args, `${stdout}${stderr}`.includes('\u001b')]).toEqual([args, false])
    }
  })

  test('take --tenant where they took the slug as an argument', async ({ tenant }) => {
    const shown = await vestibule(['tenant', 'settings', '--tenant', tenant, '--json'])
    expect(shown).toEqual(await vestibule(['tenant', 'settings', tenant, '--json']))
    const changed = ['tenant', 'settings', '--tenant', tenant, '--set', 'signUp=open', '--json']
    expect(JSON.parse((await vestibule(changed)).stdout)).toMatchObject({ signUp: 'open' })
    const slug = `${tenant}-new`
    const created = await vestibule(['tenant', 'create', '--tenant', slug, '--set', 'friendlyName=New'])
    expect(created.stdout).toBe(
      `Created tenant ${slug}.\nIssuer: ${issuerOf(slug)}\n` +
        `Next: vestibule client create --tenant ${slug} --template web --callbacks https://app.example.com/callback\n`,
    )
    expect((await vestibule(['tenant', 'delete', '--tenant', slug, '--yes'])).code).toBe(0)
    for (const [args, message] of [
      [['tenant', 'delete'], '--tenant: is required'],
      [['tenant', 'delete', 'one', '--tenant', 'two'], '--tenant: is not one'],
    ] as const)
      expect(await vestibule([...args])).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  })
})

describe.runIf(hasServices)('vestibule api-key', () => {
  test('creates a key that is printed once, lists keys without it, and revokes one', async ({
    tenant,
    app,
  }) => {
    const run = async (...args: string[]) => {
      const result = await vestibule(['api-key', ...args, '--tenant', tenant, '--json'])
      return JSON.parse(result.stdout || result.stderr)
    }
    const created = await run('create', 'Export', '--scopes', 'users:read', '--expires-in', '3600')
    const { key, ...shown } = created
    expect(shown).toMatchObject({ name: 'Export', owner: 'tenant', scopes: ['users:read'] })
    const read = async () =>
      (await app.fetch(`/${tenant}/api/v1/users`, { headers: { authorization: `Bearer ${key}` } })).status
    expect(await read()).toBe(200)
    expect(await run('list')).toEqual([
      { ...shown, lastUsedAt: expect.toBeOneOf([null, expect.any(String)]) },
    ])
    expect(await run('delete', shown.id)).toEqual({ revokedApiKeyId: shown.id })
    expect([await read(), await run('list')]).toEqual([401, []])
    const { error } = await run('create', 'Bad', '--scopes', 'all', '--expires-in', 'soon')
    expect(error.fields.map(({ field }: { field: string }) => field)).toEqual(['--scopes.0', '--expires-in'])
  })
})

describe.runIf(hasServices)('vestibule webhook', () => {
  test('creates, lists, changes, tests and deletes a webhook, and sends messages again', async ({
    tenant,
  }) => {
    const run = async (...args: string[]) => {
      const result = await vestibule(['webhook', ...args, '--tenant', tenant, '--json'])
      return JSON.parse(result.stdout || result.stderr)
    }
    const { secret, ...shown } = await run('create', 'https://a.example/in', '--types', 'user.created')
    expect(secret).toMatch(/^whsec_/)
    expect(shown).toMatchObject({ url: 'https://a.example/in', types: ['user.created'], enabled: true })
    const updated = await run('update', shown.id, '--set', 'enabled=false')
    expect(await run('list')).toEqual([{ ...updated, enabled: false }])
    const message = await run('test', shown.id, '--set', 'hello=you')
    expect(message).toMatchObject({ type: 'webhook.test', body: { data: { hello: 'you' } } })
    expect(await run('deliveries', shown.id)).toMatchObject([{ id: message.id, status: 'pending' }])
    expect(await run('redeliver', message.id)).toMatchObject({ id: message.id, status: 'pending' })
    expect(await run('redeliver', shown.id, '--created-after', '2026-01-01T00:00:00Z')).toEqual({
      redelivered: 0,
      isComplete: true,
    })
    const { error } = await run('redeliver', shown.id, '--created-after', 'soon')
    expect(error.fields.map(({ field }: { field: string }) => field)).toEqual(['--created-after'])
    expect(await run('delete', shown.id)).toEqual({ deletedWebhookId: shown.id })
  })
})

describe.runIf(hasServices)('vestibule user', () => {
  test('creates, shows and changes a user', async ({ tenant }) => {
    const run = (command: string, ...args: string[]) =>
      vestibule(['user', command, ...args, '--tenant', tenant, '--json'])
    const created = await run(
      'create',
      'ada@acme.example',
      '--set',
      'name=Ada',
      '--set',
      'emailVerified=true',
    )
    const { id, ...user } = JSON.parse(created.stdout)
    expect(user).toMatchObject({ name: 'Ada', email: 'ada@acme.example', emailVerified: true })
    await run('update', 'Ada@acme.example', '--set', 'appMetadata={"plan":"pro"}', '--set', 'nickname=42')
    const rejected = await run('update', id, '--set', 'locale=1', '--set', 'birthdate=soon')
    expect(JSON.parse(rejected.stderr).error.fields).toMatchObject([
      { field: 'birthdate' },
      { field: 'locale' },
    ])
    await run('update', id, '--set', 'nickname="42"')
    const shown = JSON.parse((await run('show', id)).stdout)
    expect(shown).toMatchObject({ name: 'Ada', nickname: '42', appMetadata: {} })
    expect(await getUserByEmail(createPlatformCtx(tenant), 'ada@acme.example')).toMatchObject({ id })
    expect((await run('show', 'bob@acme.example')).code).toBe(1)
  })

  test('says what is wrong with a file', async ({ tenant }) => {
    const directory = mkdtempSync(join(tmpdir(), 'vestibule-files-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const missing = join(directory, 'missing')
    for (const [args, message] of [
      [['import', missing], 'file: does not exist'],
      [['import', directory], 'file: is a directory'],
      [['export', directory], 'file: is a directory'],
      [['export', join(missing, 'x')], 'file: is in a directory that does not exist'],
      [['import', '-', '--results', join(missing, 'x')], '--results: is in a directory that does not exist'],
    ] as const)
      expect(await vestibule(['user', ...args, '--tenant', tenant], {})).toEqual({
        code: 1,
        stdout: '',
        stderr: `The command is not valid.\n  ${message}\n`,
      })
  })
})

describe.runIf(hasServices)('the commands of operations', () => {
  test('list, show, change and delete, on the database and with --url', async ({ app, tenant }) => {
    const over = ['--url', app.origin, '--token', await tokenFor(tenant)]
    const run = async (words: string, ...more: string[]) => {
      const { code, stdout, stderr } = await vestibule([
        ...words.split(' '),
        '--tenant',
        tenant,
        '--json',
        ...more,
      ])
      expect([words, code, stderr]).toEqual([words, 0, expect.anything()])
      return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    }
    const { id } = await run('organization create', '--set', 'name=Acme', '--set', 'slug=acme')
    await run(`organization update ${id}`, '--set', 'name=Acme Inc.', ...over)
    expect(await run('organization list', ...over)).toMatchObject([{ id, name: 'Acme Inc.' }])
    const { id: userId } = await run('user create ada@acme.example')
    await run(`user update ${userId}`, '--set', 'locked=true')
    expect(await run('user list', '--filter', 'locked=true', '--limit', '1')).toMatchObject([{ id: userId }])
    expect(await run('key list')).toMatchObject({ keys: [{ alg: expect.any(String) }] })
    await logOf(tenant)
    expect(await run('event list', '--since', '1h', '--filter', 'types=user.locked', ...over)).toMatchObject([
      { type: 'user.locked' },
    ])
    expect(await vestibule(['session', 'show', 'session_x', '--tenant', tenant])).toMatchObject({ code: 1 })
    await run(`organization delete ${id}`, '--yes')
    const tail = await vestibule(['event', 'tail', '--tenant', tenant, '--since', '1h', '--count', '1'])
    expect(tail.stdout).toMatch(/^\S+Z {2}\w+\.\w+ {2}/)
    const { stdout } = await vestibule(['completion', 'bash'])
    const script = `${stdout}COMP_WORDS=(vestibule tenant ap); COMP_CWORD=2; _vestibule; echo "$COMPREPLY"`
    expect(execFileSync('bash', ['-c', script]).toString()).toBe('apply\n')
  })
})
