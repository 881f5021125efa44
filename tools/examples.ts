// npm run examples [-- express react …]
//
// Runs the applications of examples/ against a fresh server on this machine, and signs in through each in Chromium. It
// installs their packages, so that it needs the registries of npm and PyPI, and those of Go and Maven; an example whose
// language is not installed is left out.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchBrowser } from '../test/support/browser.ts'
import { EXAMPLES, type Example } from './examples/catalog.ts'
import { type DemoServer, findFreePort, Trial, waitFor } from './examples/runner.ts'
import { install, tryExample } from './examples/trials.ts'

const START_LIMIT_MS = 120_000

/** Starts a server with an empty embedded database. */
async function startServer() {
  const directory = mkdtempSync(join(tmpdir(), 'vestibule-examples-'))
  const port = await findFreePort()
  const child = spawn(process.execPath, ['dist/main.js'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: directory, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const origin = `http://localhost:${port}`
  await waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
      return fetch(`${origin}/health/ready`).then(
        ({ ok }) => ok || undefined,
        () => undefined,
      )
    },
    () => 'the server did not start',
    START_LIMIT_MS,
  )
  const { clients } = JSON.parse(readFileSync(join(directory, 'demo.json'), 'utf8'))
  const server: DemoServer = { origin, issuer: `${origin}/demo`, backend: clients.backend }
  const stop = async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
    rmSync(directory, { recursive: true, force: true })
  }
  return { server, stop }
}

const isMissing = (command: string): boolean => spawnSync(command, ['--version']).error !== undefined

/** Why an example is left out; null if it is run. */
function findObstacle({ isUntried, needs = [] }: Example): string | null {
  if (isUntried) return 'it was never run'
  const missing = needs.filter(isMissing)
  return missing.length > 0 ? `${missing.join(' and ')} is not installed` : null
}

const chosen = process.argv.slice(2)
const unknown = chosen.filter((id) => !EXAMPLES.some((example) => example.id === id))
if (unknown.length > 0) throw new Error(`there is no example ${unknown.join(', ')}`)

const { server, stop } = await startServer()
const browser = await launchBrowser()
const failed: string[] = []
try {
  for (const example of EXAMPLES.filter(({ id }) => chosen.length === 0 || chosen.includes(id))) {
    const obstacle = findObstacle(example)
    if (obstacle) {
      process.stdout.write(`-  ${example.id}: ${obstacle}\n`)
      continue
    }
    const started = Date.now()
    let trial: Trial | undefined
    try {
      trial = await Trial.prepare(server, browser, example)
      await install(trial, false)
      await tryExample(trial)
      process.stdout.write(`ok ${example.id} (${Math.round((Date.now() - started) / 1000)} s)\n`)
    } catch (error) {
      failed.push(example.id)
      const state = await trial?.describeState()
      process.stdout.write(`FAILED ${example.id}: ${(error as Error).message}\n${state ?? ''}\n`)
    } finally {
      await trial?.close()
    }
  }
} finally {
  await browser.close()
  await stop()
}
process.stdout.write(
  failed.length > 0 ? `${failed.length} failed: ${failed.join(', ')}\n` : 'All of them work.\n',
)
process.exitCode = failed.length > 0 ? 1 : 0
