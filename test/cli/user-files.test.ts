import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { getUserByEmail } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { runNode, startVestibule, vestibule } from '../support/cli.ts'
import { hasServices } from '../support/services.ts'
import { test as base } from '../support/tenant-per-test.ts'
import { toNdjson, userLine } from '../support/user-lines.ts'

// The first command loads the program.
vi.setConfig({ testTimeout: 120_000 })

/** Prints the names of the open files in DIRECTORY when the process ends. */
const PRINT_OPEN_FILES = `data:text/javascript,${encodeURIComponent(`
  import { readdirSync, readlinkSync } from 'node:fs'
  const readLink = (fd) => { try { return readlinkSync('/proc/self/fd/' + fd) } catch { return '' } }
  process.on('exit', () => {
    const files = readdirSync('/proc/self/fd').map(readLink).filter((path) => path.startsWith(process.env.DIRECTORY))
    process.stdout.write('open: ' + files + '\\n')
  })
`)}`

const runUsers = (...args: string[]) => vestibule(['user', ...args])
const startUsers = (...args: string[]) => startVestibule(['user', ...args])

const test = base
  .extend('directory', async ({ app: _ }, { onCleanup }) => {
    const directory = await mkdtemp(join(tmpdir(), 'vestibule-users-'))
    onCleanup(() => rm(directory, { recursive: true }))
    return directory
  })
  /** Writes a file into the directory and returns its path. */
  .extend('writeLines', ({ directory }) => async (name: string, text: string) => {
    const path = join(directory, name)
    await writeFile(path, text)
    return path
  })

describe.runIf(hasServices)('vestibule user', () => {
  test('tries the lines of a CSV file, with the fields of its columns', async ({ tenant, writeLines }) => {
    const file = await writeLines('people.csv', 'Mail;Raum\nada@example.com;12\nnobody;13\n')
    expect(
      await runUsers('import', file, '--tenant', tenant, '--columns', 'email,-', '--dry-run'),
    ).toMatchObject({
      code: 1,
      stdout: 'Would import 1 user: 1 created, 0 changed, 0 unchanged; 1 line rejected.\n',
      stderr: expect.stringMatching(/^line 3: Mail must be an e-mail address/),
    })
    await expect(getUserByEmail(createPlatformCtx(tenant), 'ada@example.com')).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  test('tries and imports the export of another system', async ({ tenant, writeLines }) => {
    const users = [1, 2].map((n) => ({
      id: `k${n}`,
      username: `u${n}`,
      email: `u${n}@example.com`,
      enabled: true,
    }))
    const file = await writeLines('realm.json', JSON.stringify({ realm: 'acme', users }))
    const run = (...more: string[]) =>
      vestibule(['import', file, '--from', 'keycloak', '--tenant', tenant, ...more])
    expect(await run('--dry-run')).toMatchObject({
      code: 0,
      stdout: 'Would import 2 users: 2 created, 0 changed, 0 unchanged; 0 lines rejected.\n',
    })
    expect(await run('--start-line', '2')).toMatchObject({
      code: 0,
      stdout: 'Imported 1 user: 1 created, 0 changed, 0 unchanged; 0 lines rejected.\n',
    })
    expect(await vestibule(['import', file, '--from', 'ldap', '--tenant', tenant])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--from: must be one of auth0, keycloak,'),
    })
  })

  test('imports a file, prints the rejected lines, and exits with 1 when there are any', async ({
    tenant,
    directory,
    writeLines,
  }) => {
    const file = await writeLines(
      'some.ndjson',
      toNdjson([userLine(1), { email: 'x', locked: 1 }, userLine(2), {}]),
    )
    const results = join(directory, 'results.ndjson')
    expect(await runUsers('import', file, '--tenant', tenant)).toEqual({
      code: 1,
      stdout: 'Imported 2 users: 2 created, 0 changed, 0 unchanged; 2 lines rejected.\n',
      stderr: [
        'line 2: email must be an e-mail address such as name@example.com (RFC 5322 addr-spec), locked must be true or false',
        'line 4: externalId is required without email and phoneNumber, so that the line can be repeated',
        '',
      ].join('\n'),
    })
    const again = await runUsers(
      'import',
      file,
      '--tenant',
      tenant,
      '--results',
      results,
      '--start-line',
      '3',
      '--json',
    )
    expect(again).toMatchObject({ code: 1, stderr: '' })
    expect(JSON.parse(again.stdout)).toEqual({ lastLine: 4, created: 0, updated: 0, unchanged: 1, failed: 1 })
    const lines = (await readFile(results, 'utf8')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { line: 3, status: 'unchanged' },
      { line: 4, status: 'error' },
      { summary: { lastLine: 4 } },
    ])
    expect((await stat(results)).mode & 0o777).toBe(0o600)
  })

  test('exports users to a pipe that another tenant imports', async ({ tenant, directory, writeLines }) => {
    const [from, to] = [tenant, await newTenant()]
    const file = await writeLines(
      'all.ndjson',
      toNdjson([{ ...userLine(1), appMetadata: { plan: 'pro' } }, userLine(2)]),
    )
    expect(await runUsers('import', file, '--tenant', from)).toMatchObject({ code: 0, stderr: '' })
    const exported = await runUsers('export', '-', '--tenant', from)
    expect(exported).toMatchObject({ code: 0, stderr: 'Exported 2 users.\n' })
    const run = startUsers('import', '-', '--tenant', to, '--match-by', 'email')
    run.child.stdin?.end(exported.stdout)
    expect([await run.ended, run.stdout]).toEqual([
      0,
      'Imported 2 users: 2 created, 0 changed, 0 unchanged; 0 lines rejected.\n',
    ])
    expect(await getUserByEmail(createPlatformCtx(to), 'p1@example.com')).toMatchObject({
      externalId: 'crm-1',
      appMetadata: { plan: 'pro' },
    })
    const copy = join(directory, 'copy.ndjson')
    expect(await runUsers('export', copy, '--tenant', to)).toEqual({
      code: 0,
      stdout: 'Exported 2 users.\n',
      stderr: '',
    })
    const [first] = (await readFile(copy, 'utf8')).split('\n')
    expect((await stat(copy)).mode & 0o777).toBe(0o600)
    const rest = await runUsers('export', '-', '--tenant', to, '--after-id', JSON.parse(first ?? '').id)
    expect(rest.stdout.split('\n')).toHaveLength(2)
  })

  test('prints how to continue when it is stopped', async ({ tenant }) => {
    const run = startUsers('import', '-', '--tenant', tenant)
    run.child.stdin?.write(toNdjson([userLine(1), userLine(2)]))
    const ctx = createPlatformCtx(tenant)
    await vi.waitFor(() => getUserByEmail(ctx, 'p2@example.com'), { timeout: 60_000, interval: 50 })
    run.child.kill('SIGINT')
    expect(await run.ended).toBe(130)
    expect(run.stderr).toContain('Stopped after line 2. To continue, add --start-line 3.')
    expect(run.stdout).toContain('Imported 2 users: 2 created')
  })

  test.runIf(process.platform === 'linux')(
    'closes its files also when it rejects an option',
    async ({ tenant, directory, writeLines }) => {
      const file = await writeLines('open.ndjson', toNdjson([userLine(1)]))
      const run = (...options: string[]) =>
        runNode(
          [
            '--import',
            PRINT_OPEN_FILES,
            'dist/cli.js',
            'user',
            'import',
            file,
            '--tenant',
            tenant,
            ...options,
          ],
          { DIRECTORY: directory },
        )
      const rejected = await Promise.all([
        run('--match-by', 'name'),
        run('--results', join(directory, 'no', 'results')),
        run('--results', join(directory, 'results'), '--start-line', 'two'),
      ])
      for (const { code, stdout } of rejected) expect([code, stdout]).toEqual([1, 'open: \n'])
    },
  )

  test('rejects a missing file, invalid options and an unknown tenant', async ({
    tenant,
    directory,
    writeLines,
  }) => {
    const missing = await runUsers('import', join(directory, 'nothing.ndjson'), '--tenant', tenant)
    expect(missing).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('file: does not exist'),
    })
    const file = await writeLines('one.ndjson', toNdjson([userLine(1)]))
    const invalid = await runUsers(
      'import',
      file,
      '--tenant',
      tenant,
      '--match-by',
      'name',
      '--start-line',
      'two',
    )
    expect(invalid).toMatchObject({ code: 1, stdout: '' })
    expect(invalid.stderr).toMatch(
      /^The request has invalid fields\.\n {2}--match-by: .+\n {2}--start-line: /,
    )
    expect(await runUsers('export', '-', '--tenant', 'unknown')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'No such tenant.\n',
    })
  })
})
