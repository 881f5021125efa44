import { describe, expect } from 'vitest'
import { findClient } from '../../src/access/client-cache.ts'
import { issuerOf } from '../../src/core/issuer.ts'
import { vestibule } from '../support/cli.ts'
import { dbFor } from '../support/database.ts'
import { makeKey } from '../support/proofs.ts'
import { test as base } from '../support/tenant-per-test.ts'

const CALLBACK = 'https://app.example.com/callback'

const test = base.extend(
  'runClient',
  ({ tenant }) =>
    (command: string, ...args: string[]) =>
      vestibule(['client', command, ...args, '--tenant', tenant]),
)

describe('vestibule client create', () => {
  test.for([
    ['spa', { appType: 'single-page', callbacks: [CALLBACK] }, 'UserManager'],
    ['web', { appType: 'web', callbacks: [CALLBACK] }, 'CLIENT_SECRET='],
    ['native', { appType: 'native', callbacks: ['http://127.0.0.1/callback'] }, 'client.None()'],
    ['machine', { appType: 'machine', callbacks: [] }, 'grant_type=client_credentials'],
    ['mcp', { appType: 'native', callbacks: ['http://127.0.0.1/callback'] }, 'MCP client'],
    ['device', { appType: 'native', callbacks: [] }, '/oidc/device'],
  ] as const)(
    'knows what the template %s needs, and prints issuer, id, secret and the next step',
    async ([template, fields, next], { tenant, runClient }) => {
      const callbacks = ['spa', 'web'].includes(template) ? ['--callbacks', CALLBACK] : []
      const { code, stdout, stderr } = await runClient('create', '--template', template, ...callbacks)
      expect([code, stderr]).toEqual([0, ''])
      const id = /^id +(\S+)$/m.exec(stdout)?.[1] ?? ''
      const client = await findClient(tenant, id)
      expect(client).toMatchObject({ ...fields, type: 'login' })
      expect(client?.name).not.toBe('')
      expect(stdout).toContain(`issuer  ${issuerOf(tenant)}\n`)
      expect(/^secret +[\w-]{43}$/m.test(stdout)).toBe(['web', 'machine'].includes(template))
      const [, step = ''] = stdout.split('\nNext:\n')
      for (const part of [next, template === 'mcp' ? issuerOf(tenant) : id]) expect(step).toContain(part)
    },
  )

  test('takes other members by --set, and creates a client with a profile', async ({ tenant, runClient }) => {
    const { jwk } = await makeKey()
    const created = await runClient(
      'create',
      ...['--template', 'fapi2', '--callbacks', CALLBACK, '--name', 'Bank', '--json'],
      ...['--set', `jwks=${JSON.stringify({ keys: [jwk] })}`, '--set', 'tokenExpiryTime=600'],
    )
    const { id, ...client } = JSON.parse(created.stdout)
    expect(client).toMatchObject({
      ...{ name: 'Bank', profile: 'fapi2', dpopBoundAccessTokens: true, tokenExpiryTime: 600 },
      ...{ secret: null, issuer: issuerOf(tenant) },
    })
    expect(await findClient(tenant, id)).toMatchObject({ profile: 'fapi2', jwks: { keys: [jwk] } })
  })

  test('names what it cannot know, and every option that is not valid', async ({ tenant, runClient }) => {
    const list = 'spa, web, native, machine, mcp, device, fapi2'
    const cases: [args: string[], message: string][] = [
      [[], `--template: is required: ${list}`],
      [['--template', 'x'], `--template: must be one: ${list}`],
      [['--template', 'spa'], '--callbacks: is required, such as https://app.example.com/callback'],
      [['--template', 'fapi2', '--callbacks', CALLBACK], 'jwks: is required for profile fapi2'],
      [['--template', 'machine', '--set', 'nonsense=1'], 'nonsense: '],
      [['--template', 'machine', '--set', 'nonsense'], '--set: must be member=value or a JSON object'],
    ]
    for (const [args, message] of cases)
      expect(await runClient('create', ...args)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining(message),
      })
    expect(await dbFor(tenant).client.count({ where: { tenantId: tenant, name: 'Machine' } })).toBe(0)
  })
})

describe('vestibule client show and update', () => {
  test('print and change a client without its secret', async ({ tenant, runClient }) => {
    const created = await runClient('create', '--template', 'web', '--callbacks', CALLBACK, '--json')
    const { id, secret } = JSON.parse(created.stdout)
    const updated = await runClient(
      'update',
      id,
      ...['--set', 'name=Shop', '--set', 'requirePkce=true', '--set', '{"defaultMaxAge":60}'],
      ...['--set', 'callbacks=["https://shop.example/cb"]', '--set', 'description='],
    )
    expect([updated.code, updated.stderr]).toEqual([0, ''])
    const changed = { name: 'Shop', requirePkce: true, defaultMaxAge: 60, description: null }
    expect(await findClient(tenant, id)).toMatchObject({ ...changed, callbacks: ['https://shop.example/cb'] })
    const shown = await runClient('show', id)
    expect(shown.stdout).toMatch(/^FIELD +VALUE\n[\s\S]*^requirePkce +true$/m)
    const asJson = await runClient('show', id, '--json')
    expect(JSON.parse(asJson.stdout)).toMatchObject(changed)
    expect([shown.stdout, asJson.stdout, updated.stdout].join('')).not.toContain(secret)
    expect((await runClient('update', id, '--set', 'defaultMaxAge=null', '--json')).stdout).toContain(
      '"defaultMaxAge":null',
    )
    const rejected = await runClient('update', id, '--set', 'profile=fapi2', '--set', 'requirePkce=false')
    expect([rejected.code, rejected.stderr]).toEqual([
      1,
      expect.stringMatching(/requirePkce: must be true with profile fapi2\n[\s\S]*jwks: is required/),
    ])
    expect((await runClient('show', 'client_nonsense')).stderr).toBe('No such client.\n')
  })
})
