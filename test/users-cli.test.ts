import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { platformCtx } from '../src/ctx.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { getUserByEmail } from '../src/users/users.ts'
import { newTenant } from './support/actors.ts'

// Each run starts a process that compiles the program first.
vi.setConfig({ testTimeout: 120_000 })

let directory: string
beforeAll(async () => {
  await openRuntime()
  directory = await mkdtemp(join(tmpdir(), 'vestibule-users-'))
})
afterAll(async () => {
  await rm(directory, { recursive: true })
  await closeRuntime()
})

/** `vestibule users …` as its own process, beside this one that has the database open. */
function start(...args: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli.ts', 'users', ...args], {
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const run = { child, stdout: '', stderr: '', ended: once(child, 'close').then(([code]) => code as number) }
  child.stdin.on('error', () => {})
  child.stdout.on('data', (chunk) => {
    run.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    run.stderr += chunk
  })
  return run
}

async function users(...args: string[]) {
  const run = start(...args)
  run.child.stdin.end()
  return { code: await run.ended, stdout: run.stdout, stderr: run.stderr }
}

const person = (n: number) => ({ externalId: `crm-${n}`, email: `p${n}@example.com` })
const toText = (lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')
const fileWith = async (name: string, text: string) => {
  const path = join(directory, name)
  await writeFile(path, text)
  return path
}

describe('vestibule users', () => {
  it('imports a file, says what was refused, and ends with 1 when something was', async () => {
    const tenant = await newTenant()
    const file = await fileWith('some.ndjson', toText([person(1), { email: 'x', locked: 1 }, person(2), {}]))
    const results = join(directory, 'results.ndjson')
    expect(await users('import', file, '--tenant', tenant)).toEqual({
      code: 1,
      stdout: 'Imported 2 users: 2 created, 0 changed, 0 unchanged; 2 lines refused.\n',
      stderr: [
        'line 2: email must be an e-mail address such as name@example.com (RFC 5322 addr-spec), locked must be true or false',
        'line 4: externalId is needed where there is no email and no phoneNumber, so that the line can be repeated',
        '',
      ].join('\n'),
    })
    const again = await users(
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

  it('exports what another tenant imports, through a pipe', async () => {
    const [from, to] = [await newTenant(), await newTenant()]
    const file = await fileWith(
      'all.ndjson',
      toText([{ ...person(1), appMetadata: { plan: 'pro' } }, person(2)]),
    )
    expect(await users('import', file, '--tenant', from)).toMatchObject({ code: 0, stderr: '' })
    const exported = await users('export', '-', '--tenant', from)
    expect(exported).toMatchObject({ code: 0, stderr: 'Exported 2 users.\n' })
    const run = start('import', '-', '--tenant', to, '--match-by', 'email')
    run.child.stdin.end(exported.stdout)
    expect([await run.ended, run.stdout]).toEqual([
      0,
      'Imported 2 users: 2 created, 0 changed, 0 unchanged; 0 lines refused.\n',
    ])
    expect(await getUserByEmail(platformCtx(to), 'p1@example.com')).toMatchObject({
      externalId: 'crm-1',
      appMetadata: { plan: 'pro' },
    })
    const copy = join(directory, 'copy.ndjson')
    expect(await users('export', copy, '--tenant', to)).toEqual({
      code: 0,
      stdout: 'Exported 2 users.\n',
      stderr: '',
    })
    const [first] = (await readFile(copy, 'utf8')).split('\n')
    expect((await stat(copy)).mode & 0o777).toBe(0o600)
    const rest = await users('export', '-', '--tenant', to, '--after-id', JSON.parse(first ?? '').id)
    expect(rest.stdout.split('\n')).toHaveLength(2)
  })

  it('says how to go on when it is stopped', async () => {
    const tenant = await newTenant()
    const run = start('import', '-', '--tenant', tenant)
    run.child.stdin.write(toText([person(1), person(2)]))
    const ctx = platformCtx(tenant)
    await vi.waitFor(() => getUserByEmail(ctx, 'p2@example.com'), { timeout: 60_000, interval: 50 })
    run.child.kill('SIGINT')
    expect(await run.ended).toBe(130)
    expect(run.stderr).toContain('Stopped behind line 2. To go on, add --start-line 3.')
    expect(run.stdout).toContain('Imported 2 users: 2 created')
  })

  it('names what is wrong with the command itself', async () => {
    const tenant = await newTenant()
    const missing = await users('import', join(directory, 'nothing.ndjson'), '--tenant', tenant)
    expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('ENOENT') })
    const file = await fileWith('one.ndjson', toText([person(1)]))
    const faulty = await users(
      'import',
      file,
      '--tenant',
      tenant,
      '--match-by',
      'name',
      '--start-line',
      'two',
    )
    expect(faulty).toMatchObject({ code: 1, stdout: '' })
    expect(faulty.stderr).toMatch(/^The request has invalid fields\.\n {2}--match-by: .+\n {2}--start-line: /)
    expect(await users('export', '-', '--tenant', 'nobody')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'No such tenant.\n',
    })
  })
})
