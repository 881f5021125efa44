import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { findClient, isCurrentClientSecret } from '../../src/access/client-cache.ts'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { env } from '../../src/core/env.ts'
import { authenticatePasscode } from '../../src/passcodes/authenticate-passcode.ts'
import { sendPasscode } from '../../src/passcodes/send-passcode.ts'
import { listSignInLimits } from '../../src/passcodes/sign-in-limits.ts'
import { createUser, getUserByEmail } from '../../src/users/users.ts'
import { vestibule } from '../support/cli.ts'
import { dbFor } from '../support/database.ts'
import { logOf } from '../support/events.ts'
import { test } from '../support/tenant-per-test.ts'

describe('vestibule --version', () => {
  test('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(await vestibule(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })
})

describe('vestibule --help', () => {
  test.for([
    [['--help'], 'vestibule serve|'],
    [['client', '--help'], 'vestibule client create|'],
    [['client', 'create', '--help'], 'vestibule client create '],
  ] as const)(
    'prints the usage of %s by its whole name, and no colors into a pipe',
    async ([args, usage]) => {
      const { code, stdout } = await vestibule([...args], { NO_COLOR: '' })
      expect([code, stdout]).toEqual([0, expect.stringContaining(`USAGE ${usage}`)])
      expect(stdout).not.toContain('\u001b')
    },
  )
})

describe('vestibule without a database', () => {
  test('prints an error and creates no file', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'vestibule-nothing-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const variables = { DATABASE_URL: '', ENCRYPTION_KEY: '', DATA_DIR: join(directory, '.vestibule') }
    for (const args of [['tenant', 'list'], ['migrate'], ['--help']]) {
      const { code, stderr } = await vestibule(args, variables)
      expect([args, code, stderr]).toEqual(
        args[0] === '--help'
          ? [args, 0, '']
          : [args, 1, expect.stringMatching(/^There is no database in .*\. Set DATABASE_URL, or .*\n$/)],
      )
    }
    expect(readdirSync(directory)).toEqual([])
  })
})

describe('vestibule tenant', () => {
  test('shows and changes settings, and names each that is not valid', async ({ tenant }) => {
    const set = (json: string) => vestibule(['tenant', 'settings', tenant, '--set', json, '--json'])
    const changed = await set('{"passcodeChannels":["email"],"networkCodeLimit":50}')
    expect(JSON.parse(changed.stdout)).toMatchObject({ passcodeChannels: ['email'], networkCodeLimit: 50 })
    expect((await vestibule(['tenant', 'settings', tenant])).stdout).toMatch(
      /^passcodeChannels +\["email"\]$/m,
    )
    const rejected = await set('{"passcodeChannels":["fax"],"networkCodeLimit":1}')
    expect([rejected.code, JSON.parse(rejected.stderr).error.fields]).toEqual([
      1,
      [
        expect.objectContaining({ field: expect.stringMatching(/^passcodeChannels/) }),
        expect.objectContaining({ field: 'networkCodeLimit' }),
      ],
    ])
    for (const json of ['{', '[]', '1']) {
      const { code, stderr } = await set(json)
      expect([code, JSON.parse(stderr).error.fields]).toMatchObject([1, [{ field: '--set' }]])
    }
    expect((await vestibule(['tenant', 'settings', 'no-such-tenant'])).code).toBe(1)
  })

  test('creates, lists and deletes tenants', async ({ app: _ }) => {
    expect(await vestibule(['tenant', 'create', 'acme-cli', '--friendly-name', 'Acme'])).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Created tenant acme-cli\.\nIssuer: \S+\/acme-cli\nNext: /),
      stderr: '',
    })
    expect(await findTenant('acme-cli')).toMatchObject({ friendlyName: 'Acme' })
    const list = await vestibule(['tenant', 'list', '--json'])
    expect(JSON.parse(list.stdout)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          slug: 'acme-cli',
          settings: expect.objectContaining({ friendlyName: 'Acme' }),
        }),
        expect.objectContaining({ slug: 'system' }),
      ]),
    )
    expect((await vestibule(['tenant', 'list'])).stdout).toMatch(
      /^SLUG +CREATED +NAME\n(.+\n)*acme-cli +\S+Z +Acme\n(.+\n)*system/,
    )
    const invited = ['--administrator', 'grace@acme.example', '--administrator-name', 'Grace']
    expect((await vestibule(['tenant', 'create', 'acme-grace', ...invited])).stdout).toContain(
      'grace@acme.example was sent a link to become its administrator.',
    )
    const { invitation } = dbFor('acme-grace')
    expect(await invitation.findMany({ where: { tenantId: 'acme-grace' } })).toMatchObject([
      { email: 'grace@acme.example', name: 'Grace', roles: ['admin'] },
    ])
    expect(await vestibule(['tenant', 'delete', 'acme-cli'])).toMatchObject({
      code: 0,
      stdout: 'Deleted tenant acme-cli.\n',
    })
    expect(await dbFor('acme-cli').tenant.findUnique({ where: { tenantId: 'acme-cli' } })).toBeNull()
    const recorded = (await logOf('system')).filter(({ subjectIds }) => subjectIds.includes('acme-cli'))
    expect(recorded.map(({ type, requestId }) => [type, requestId])).toEqual([
      ['tenant.created', 'platform'],
      ['tenant.deleted', 'platform'],
    ])
  })

  test('prints every invalid field and exits with 1', async () => {
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

  test('rejects unknown options, arguments, commands and tenants', async ({ app: _ }) => {
    const cases: [args: string[], message: string][] = [
      [
        ['tenant', 'create', 'ok', '--freindly-name', 'x'],
        '--freindly-name: is not an option of this command',
      ],
      [['tenant', 'create', 'ok', 'surplus'], 'surplus: is an unexpected argument'],
      [['tenant', 'create'], '--tenant: is required'],
      [['client', 'show', '--tenant', 'system'], 'Missing required positional argument: ID'],
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
  test('creates a client, prints its secret, and lists clients without secrets', async ({ tenant }) => {
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
    expect(client && isCurrentClientSecret(client, created.secret)).toBe(true)
    const list = await vestibule(['client', 'list', '--tenant', tenant, '--json'])
    expect(JSON.parse(list.stdout)).toEqual([expect.objectContaining({ id: created.id, name: 'Shop' })])
    expect(list.stdout).not.toContain('secret')
  })

  test('rotates a secret, prints the new secret, and deletes the client', async ({ tenant, events }) => {
    const { client, secret } = await createClient(createPlatformCtx(tenant), {
      name: 'Shop',
      appType: 'web',
      type: 'login',
    })
    const at = ['--tenant', tenant]
    const invalid = await vestibule(['client', 'rotate-secret', client.id, ...at, '--overlap-seconds', 'day'])
    expect(invalid).toMatchObject({
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
    const lives = [secret ?? '', rotated.secret].map(
      (text) => found !== null && isCurrentClientSecret(found, text),
    )
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
    const recorded = (await events()).map(({ type, changedFields }) => [type, ...changedFields])
    expect(recorded.slice(-2)).toEqual([['client.updated', 'secret'], ['client.deleted']])
  })

  test('rejects an unknown tenant', async () => {
    const run = await vestibule(['client', 'list', '--tenant', 'never-made'])
    expect(run).toEqual({ code: 1, stdout: '', stderr: 'No such tenant.\n' })
  })
})

describe('vestibule admin invite', () => {
  test('sends an invitation with the role admin, or prints its link', async ({ tenant }) => {
    const input = ['admin', 'invite', 'first@b.example', '--tenant', tenant, '--json']
    const sent = await vestibule(input)
    expect(JSON.parse(sent.stdout)).toMatchObject({ email: 'first@b.example', roles: ['admin'], uri: null })
    const printed = await vestibule([...input, '--link'])
    const { uri } = JSON.parse(printed.stdout) as { uri: string }
    expect(uri).toMatch(new RegExp(`/${tenant}/invitation\\?token=[\\w-]{43}$`))
    const wrong = await vestibule(['admin', 'invite', 'x@b.example', '--tenant', tenant, '--role', 'owner'])
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toContain('admin, support, auditor')
  })
})

describe('vestibule admin grant', () => {
  test('creates a user with the role admin for an unknown address', async ({ tenant }) => {
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
    const user = await getUserByEmail(createPlatformCtx(tenant), 'boss@acme.example')
    expect(user.roles).toEqual(['admin'])
    expect(JSON.parse(run.stdout)).toEqual({
      userId: user.id,
      email: 'Boss@Acme.example',
      roles: ['admin'],
      created: true,
    })
  })

  test('says whether it created the user, and which roles the user has', async ({ tenant }) => {
    const grant = (role: string) =>
      vestibule(['admin', 'grant', 'boss@acme.example', '--tenant', tenant, '--role', role])
    const { stdout } = await grant('admin')
    const { id } = await getUserByEmail(createPlatformCtx(tenant), 'boss@acme.example')
    const user = `user boss@acme.example (${id}) of tenant ${tenant}`
    const address = `Console: ${env.baseUrl}/${tenant}/console`
    expect(stdout).toBe(`Created ${user}. Roles: admin.\n${address}\n`)
    expect((await grant('support')).stdout).toBe(`Changed ${user}. Roles: admin, support.\n${address}\n`)
  })

  test('makes a person the operator of all tenants, in tenant system only', async ({ tenant }) => {
    const email = `operator@${tenant}.example`
    const grant = (at: string) => vestibule(['admin', 'grant', email, '--tenant', at, '--role', 'operator'])
    expect((await grant('system')).stdout).toContain('Roles: operator.')
    const elsewhere = await grant(tenant)
    expect(elsewhere.code).toBe(1)
    expect(elsewhere.stderr).toContain('operator exists in tenant system only')
  })

  test('rejects an unknown role, and lists the roles', async ({ tenant }) => {
    const run = await vestibule(['admin', 'grant', 'a@b.example', '--tenant', tenant, '--role', 'owner'])
    expect(run.code).toBe(1)
    expect(run.stderr).toContain('admin, support, auditor')
  })
})

describe('vestibule limit', () => {
  test('shows and resets the wrong guesses and sent codes of a user', async ({ tenant, ctx, events }) => {
    const { id } = await createUser(ctx, { email: 'ada@acme.example', emailVerified: true })
    await sendPasscode(ctx, 'email', { to: 'ada@acme.example' })
    const guess = authenticatePasscode(ctx, { to: 'ada@acme.example', code: 'wrong' })
    await expect(guess).rejects.toThrow('wrong')
    const run = (command: string, ...more: string[]) =>
      vestibule(['limit', command, 'Ada@Acme.example', '--tenant', tenant, ...more])
    expect(await run('show')).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^CHANNEL +WRONG GUESSES +LONG CODES UNTIL +SENT CODES +CODES AGAIN AT\nemail +1 +- +1 +-\n$/,
      ),
      stderr: '',
    })
    expect(await run('reset', '--json')).toEqual({
      code: 0,
      stdout: `${JSON.stringify({ userId: id })}\n`,
      stderr: '',
    })
    const limits = {
      channel: 'email',
      wrongGuesses: 0,
      longCodesUntil: null,
      sentCodes: 0,
      codesAgainAt: null,
    }
    expect(await listSignInLimits(ctx, id)).toEqual([limits])
    expect((await events()).at(-1)).toMatchObject({
      type: 'user.limits_reset',
      userId: id,
      actorUserId: null,
    })
  })
})

describe('vestibule migrate', () => {
  test('reports that there is no migration to apply', async () => {
    expect(await vestibule(['migrate'])).toEqual({ code: 0, stdout: 'Nothing to apply.\n', stderr: '' })
  })
})
