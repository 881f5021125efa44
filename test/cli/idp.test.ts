import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { unsealIdpSecrets } from '../../src/idps/secrets/idp-secrets.ts'
import { startVestibule, vestibule } from '../support/cli.ts'
import { dbFor } from '../support/database.ts'
import { test as base } from '../support/tenant-per-test.ts'

const SECRET = 'a-secret-of-the-partner'

const test = base
  .extend(
    'createIdp',
    ({ tenant }) =>
      (...more: string[]) =>
        vestibule([
          'idp',
          'create',
          'partner',
          '--tenant',
          tenant,
          '--type',
          'oidc',
          '--name',
          'Partner',
          ...more,
        ]),
  )
  .extend('readSecret', ({ tenant }) => async () => {
    const row = await dbFor(tenant).identityProvider.findFirstOrThrow({ where: { tenantId: tenant } })
    return unsealIdpSecrets(row).clientSecret
  })

function writeSecret(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'vestibule-idp-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'secret')
  writeFileSync(path, text)
  return path
}

describe('vestibule idp', () => {
  test('creates a provider with the secret of a file, and prints the URLs to register', async ({
    tenant,
    createIdp,
    readSecret,
  }) => {
    const path = writeSecret(`${SECRET}\n`)
    const options = ['--issuer', 'https://login.partner.example', '--client-id', 'vestibule']
    const set = ['--set', '{"entry":"anyone","upstreamLogout":true,"keepTokens":true}']
    const { code, stdout, stderr } = await createIdp(...options, '--client-secret-file', path, ...set)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`/${tenant}/oidc/callback/partner\n`)
    expect(stdout).toContain(`/${tenant}/oidc/logout/callback/partner\n`)
    expect(stdout).toContain(`/${tenant}/oidc/backchannel-logout/partner\n`)
    expect(stdout).not.toContain('missing')
    expect(await readSecret()).toBe(SECRET)
    const shown = await vestibule(['idp', 'show', 'partner', '--tenant', tenant, '--json'])
    expect(JSON.parse(shown.stdout)).toMatchObject({
      entry: 'anyone',
      upstreamLogout: true,
      keepTokens: true,
      hasClientSecret: true,
    })
    const listed = await vestibule(['idp', 'list', '--tenant', tenant])
    expect(listed.stdout).toContain('partner  oidc')
    for (const each of [stdout, shown.stdout, listed.stdout]) expect(each).not.toContain(SECRET)
  })

  test('names what a new provider still needs', async ({ createIdp }) => {
    expect((await createIdp()).stdout).toMatch(/missing +clientId, issuer/)
  })

  test('tests a provider, and exits with 1 where a sign-in would fail', async ({ tenant, createIdp }) => {
    await createIdp('--client-id', 'vestibule', '--issuer', 'http://127.0.0.1:9')
    const { code, stdout } = await vestibule(['idp', 'test', 'partner', '--tenant', tenant])
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /fields +passed[\s\S]*discovery +failed +unreachable +127\.0\.0\.1 could not be reached/,
    )
    const { stdout: json } = await vestibule(['idp', 'test', 'partner', '--tenant', tenant, '--json'])
    expect(JSON.parse(json)).toMatchObject({
      succeeded: false,
      findings: [{ check: 'fields' }, { cause: 'unreachable' }],
    })
  })

  test('changes the secret from stdin, and deletes the provider', async ({
    tenant,
    createIdp,
    readSecret,
  }) => {
    await createIdp()
    const args = ['idp', 'update', 'partner', '--tenant', tenant, '--client-secret-file', '-']
    const command = startVestibule(args)
    command.child.stdin?.end(SECRET)
    expect([await command.ended, command.stderr]).toEqual([0, ''])
    expect(await readSecret()).toBe(SECRET)
    const deleted = await vestibule(['idp', 'delete', 'partner', '--tenant', tenant, '--yes'])
    expect(deleted).toEqual({ code: 0, stdout: 'Deleted identity provider partner.\n', stderr: '' })
    expect((await vestibule(['idp', 'show', 'partner', '--tenant', tenant])).code).toBe(1)
  })

  test('takes no secret as an argument, and names every option that is not valid', async ({
    tenant,
    createIdp,
  }) => {
    const inJson = await createIdp('--set', JSON.stringify({ clientSecret: SECRET }))
    expect(inJson).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--set: must not have the clientSecret'),
    })
    expect(inJson.stderr).not.toContain(SECRET)
    expect((await createIdp('--client-secret', SECRET)).stderr).toContain('is not an option of this command')
    expect((await createIdp('--client-secret-file', '/nowhere')).stderr).toContain(
      '--client-secret-file: does not exist',
    )
    expect((await createIdp('--client-secret-file', writeSecret('\n'))).stderr).toContain(
      '--client-secret-file: is empty',
    )
    expect((await createIdp('--set', '[]')).stderr).toContain('--set: must be member=value or a JSON object')
    expect((await createIdp('--set', '{"entry":"x","trustAmr":"y"}')).stderr).toMatch(
      /entry: [\s\S]*trustAmr: /,
    )
    expect(await dbFor(tenant).identityProvider.count({ where: { tenantId: tenant } })).toBe(0)
  })
})
