// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the files of these tests have references
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import type * as z from 'zod'
import { openDirectApi } from '../../src/cli/api/api-command.ts'
import type { PublicApi } from '../../src/cli/api/public-api.ts'
import { openRemoteApi } from '../../src/cli/api/remote-api.ts'
import { applySteps } from '../../src/cli/configuration/apply.ts'
import { readConfiguration, writeConfiguration } from '../../src/cli/configuration/file.ts'
import { KINDS, SETTING_NAMES, SETTING_SECRETS } from '../../src/cli/configuration/kinds.ts'
import { planSteps } from '../../src/cli/configuration/plan.ts'
import { readState, toConfiguration } from '../../src/cli/configuration/state.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { DEMO_TENANT, ensureDemo } from '../../src/dev/demo.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createGroup } from '../../src/permissions/groups.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { vestibule } from '../support/cli.ts'
import { logOf } from '../support/events.ts'
import { test } from '../support/fixtures.ts'

const OPTIONS = { prune: false, updateSecrets: false }

const exportFrom = async (api: PublicApi): Promise<string> =>
  writeConfiguration(toConfiguration(await readState(api.call)))

const planFor = async (api: PublicApi, file: string, options = OPTIONS) => {
  const state = await readState(api.call)
  return {
    steps: planSteps(readConfiguration(file), state, { ...options, callerId: api.callerId }),
    ids: state.ids,
  }
}
async function apply(api: PublicApi, file: string, options = OPTIONS) {
  const { steps, ids } = await planFor(api, file, options)
  return applySteps(api, steps, ids)
}
/** The faulty members of a file, by their paths. */
const findFaults = (work: Promise<unknown>): Promise<Record<string, string>> =>
  work.then(
    () => ({}),
    ({ fields }) =>
      Object.fromEntries(
        fields.map(({ field, description }: { field: string; description: string }) => [field, description]),
      ),
  )

/** A file with every member of every section; `${env:…}` are variables of the tests. */
const FULL = `
vestibule: 1
managementRoles:
  - { name: shop-support, description: Manages users, scopes: [users:read, users:write] }
settings:
  mailSenderAddress: shop@example.com
  mailServer: smtps://mail.example.com
  mailServerUser: shop
  mailServerPassword: "\${env:MAIL_SERVER_PASSWORD}"
  friendlyName: "$\${Example}"
  secondFactorRoles: [shop-support]
apis:
  - identifier: https://api.shop.example
    name: Shop API
    permissions: [{ name: orders:write }, { name: orders:read, description: Read orders }]
appRoles:
  - name: order-clerk
    permissions: [{ apiId: "\${apis:https://api.shop.example}", name: orders:read }]
  - { name: bot, assignableTo: [client] }
groups:
  - { name: Desk, parentId: "\${groups:Sales}", appRoleIds: ["\${appRoles:order-clerk}"] }
  - { name: Sales }
idps:
  - { id: partner, type: oidc, name: Partner, clientId: vestibule, clientSecret: "\${env:PARTNER_CLIENT_SECRET}" }
clients:
  - { name: Shop, type: login, appType: web, callbacks: [https://shop.example/callback] }
  - { name: Shop, type: login, appType: machine, appRoleIds: ["\${appRoles:bot}"] }
webhooks:
  - url: https://hooks.example/a
    headers: [{ name: Authorization, value: "\${env:HOOKS_AUTHORIZATION}" }]
`

/** Another value of the same kind, or any other one. */
function change(value: unknown): unknown {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  if (Array.isArray(value)) return value.length > 0 ? [] : ['another']
  return 'another'
}

describe('a file of configuration', () => {
  test('makes an empty tenant equal to the demo tenant, once', async ({ app: _ }) => {
    await ensureDemo()
    const [demo, copy] = [await openDirectApi(DEMO_TENANT), await openDirectApi(await newTenant())]
    const file = await exportFrom(demo)
    expect((await apply(copy, file)).done.length).toBeGreaterThan(3)
    expect((await planFor(copy, file, { prune: true, updateSecrets: false })).steps).toEqual([])
    expect(parse(await exportFrom(copy))).toEqual(parse(file))
  })

  test('makes every section with references and secrets, and writes nothing again, also over HTTP', async ({
    app,
  }) => {
    Object.assign(process.env, {
      PARTNER_CLIENT_SECRET: 'x'.repeat(40),
      HOOKS_AUTHORIZATION: 'Bearer 6f1a',
      MAIL_SERVER_PASSWORD: 'xxxx',
    })
    const [one, two] = [await newTenant(), await newTenant()]
    const direct = await openDirectApi(one)
    const { done } = await apply(direct, FULL)
    expect(done.filter(({ secret }) => secret).map(({ section, key }) => `${section} ${key}`)).toEqual([
      'clients Shop',
      'clients Shop#2',
      'webhooks https://hooks.example/a',
    ])
    const events = (await logOf(one)).length
    expect(await apply(direct, FULL)).toEqual({ done: [], error: null })
    const file = await exportFrom(direct)
    expect(await apply(direct, file)).toEqual({ done: [], error: null })
    expect((await logOf(one)).length).toBe(events)
    for (const secret of ['xxxx', '6f1a', ...done.flatMap(({ secret = [] }) => secret)])
      expect(file).not.toContain(secret)
    expect(file).toContain('${env:PARTNER_CLIENT_SECRET}')
    const full = parse(FULL)
    expect(parse(file)).toMatchObject({
      settings: full.settings,
      appRoles: expect.arrayContaining(full.appRoles.map((role: object) => expect.objectContaining(role))),
      groups: expect.arrayContaining(full.groups.map((group: object) => expect.objectContaining(group))),
    })
    const remote = openRemoteApi(two, app.origin, await tokenFor(two))
    const copied = file.replaceAll('HTTPS_HOOKS_EXAMPLE_A_AUTHORIZATION', 'HOOKS_AUTHORIZATION')
    expect((await apply(remote, copied)).error).toBeNull()
    expect(await apply(remote, copied)).toEqual({ done: [], error: null })
    const { clients, ...others } = parse(await exportFrom(remote))
    const { clients: copiedClients, ...copiedOthers } = parse(file)
    expect(others).toEqual(copiedOthers)
    // The client of the token is one more, and does not delete itself.
    expect(clients.slice(1)).toEqual(copiedClients)
    const pruned = await apply(remote, 'vestibule: 1\nclients: []\ngroups: []', { ...OPTIONS, prune: true })
    expect(pruned.done.map(({ action, section }) => `${action} ${section}`)).toEqual([
      'delete clients',
      'delete clients',
      'delete groups',
      'delete groups',
    ])
  })

  test('notices a change of each member of each section, and leaves out none', async ({ app: _ }) => {
    const api = await openDirectApi(await newTenant())
    await apply(api, FULL)
    const state = await readState(api.call)
    const { settings, entries } = toConfiguration(state)
    const find = (name: string, section: string, value: unknown) => {
      const sections = readConfiguration('vestibule: 1')
      if (section === 'settings') sections.settings = { [name]: value }
      const kind = KINDS.find((each) => each.section === section)
      const [first] = (kind && entries.get(kind)) ?? []
      if (kind && first) sections.entries.set(kind, [{ [kind.key]: first[kind.key], [name]: value }])
      try {
        return planSteps(sections, state, OPTIONS).flatMap((step) =>
          step.differences.map(({ member }) => member),
        )
      } catch (error) {
        // The value is not one of the member: it is named.
        return (error as { fields: { field: string }[] }).fields.map(
          ({ field }) => field.replace(/^\w+\.(0\.)?/, '').split('.')[0],
        )
      }
    }
    for (const name of SETTING_NAMES.filter((each) => !(each in SETTING_SECRETS))) {
      expect(settings).toHaveProperty([name])
      expect(new Set(find(name, 'settings', change(settings?.[name])))).toEqual(new Set([name]))
    }
    for (const kind of KINDS) {
      const [first = {}] = entries.get(kind) ?? []
      const creation = Object.keys((kind.create.body as z.ZodObject).shape)
      expect(kind.members).toEqual(
        expect.arrayContaining(creation.filter((name) => name !== 'organizationId')),
      )
      for (const name of kind.members) {
        if (name === kind.key || name in kind.secrets) continue
        expect(new Set(find(name, kind.section, change(first[name])))).toEqual(new Set([name]))
      }
    }
  })

  test('names every invalid member by its path, and changes nothing', async ({ app: _ }) => {
    const tenant = await newTenant()
    const api = await openDirectApi(tenant)
    const before = await exportFrom(api)
    const faults = (file: string) => findFaults(apply(api, `vestibule: 1\n${file}`))
    expect(await faults('colors: 1\nsettings: { colour: red }\nclients: [{ nam: Shop }, 1]')).toEqual({
      colors: 'is not a section',
      'settings.colour': 'is not a setting',
      'clients.0.name': 'is required',
      'clients.0.nam': 'is not a member of clients',
      'clients.1': 'must be an object',
    })
    expect(
      await faults(
        'settings: { supportUrl: "javascript:1" }\napis: [{ identifier: urn:x, name: 1 }]\n' +
          'appRoles: [{ name: a, permissions: [{ apiId: "${apis:urn:y}", name: x }] }]\n' +
          'webhooks: [{ url: https://a.example, headers: [{ name: A, value: "${env:NOT_SET_ANYWHERE}" }] }]',
      ),
    ).toMatchObject({
      'settings.supportUrl': expect.stringContaining('http'),
      'apis.0.name': expect.any(String),
      'appRoles.0': '${apis:urn:y} is neither in the file nor in the tenant',
      'webhooks.0.headers.0.value': 'the variable NOT_SET_ANYWHERE is not set',
    })
    // Only the service knows that a machine client has no callbacks, and that a role needs the permission.
    expect(
      await faults(
        'apis: [{ identifier: urn:x, name: X }]\nappRoles: [{ name: a, permissions: [{ apiId: "${apis:urn:x}", name: y }] }]\n' +
          'clients: [{ name: M, type: login, appType: machine, callbacks: [https://a.example] }]',
      ),
    ).toEqual({
      'appRoles.0.permissions.0': 'is not a permission of an API of this tenant',
      'clients.0.callbacks.0': expect.stringContaining('machine'),
    })
    for (const file of ['x: [', 'a: 1', 'vestibule: 2'])
      expect(await findFaults(apply(api, file))).not.toEqual({})
    expect(await exportFrom(api)).toBe(before)
  })

  test('leaves the objects of organizations and what it does not name alone', async ({ app: _ }) => {
    const tenant = await newTenant()
    const ctx = createPlatformCtx(tenant)
    const { id: organizationId } = await createOrganization(ctx, { name: 'Acme', slug: 'acme' })
    await createGroup(ctx, { name: 'Desk', organizationId })
    const api = await openDirectApi(tenant)
    await apply(
      api,
      'vestibule: 1\ngroups: [{ name: Desk }]\nsettings: { friendlyName: A, supportUrl: null }',
    )
    await apply(api, 'vestibule: 1\ngroups: []\nsettings: { friendlyName: B }', { ...OPTIONS, prune: true })
    const { settings, objects } = await readState(api.call)
    expect([settings.friendlyName, [...objects.values()].flat()]).toEqual(['B', []])
    expect(await ctx.db.prisma.group.count({ where: { tenantId: tenant } })).toBe(1)
  })
})

describe('vestibule tenant export, diff and apply', () => {
  test('write a file, exit with 2 for a difference, and need a token with --url', async ({ app }) => {
    const [from, to] = [await newTenant(), await newTenant()]
    const directory = mkdtempSync(join(tmpdir(), 'vestibule-configuration-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const file = join(directory, 'tenant.yaml')
    const run = (command: string, tenant: string, ...more: string[]) =>
      vestibule(['tenant', command, file, '--tenant', tenant, ...more])
    expect((await run('export', from)).stdout).toBe(`Exported to ${file}.\n`)
    expect(await run('diff', to)).toMatchObject({ code: 0, stdout: 'No differences.\n' })
    writeFileSync(file, 'vestibule: 1\nsettings: { supportUrl: "https://example.com/help" }\n')
    const different = await run('diff', to)
    expect(different).toMatchObject({
      code: 2,
      stdout: expect.stringMatching(
        /update +settings +settings +supportUrl +null +"https:\/\/example.com\/help"/,
      ),
    })
    const over = ['--url', app.origin, '--token', await tokenFor(to), '--json']
    expect(await run('apply', to, '--url', app.origin)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--token: is required with --url'),
    })
    expect(JSON.parse((await run('apply', to, ...over)).stdout)).toEqual({
      changes: [{ section: 'settings', key: 'settings', action: 'update' }],
    })
    expect(await run('diff', to, ...over)).toMatchObject({ code: 0, stdout: '{"changes":[]}\n' })
  })
})
